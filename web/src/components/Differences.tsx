import { Link } from 'wouter';
import type { WhatIf } from '../api/types';
import { formatHosts, formatWord } from '../lib/format';

// What the planner would do after a change: who fares differently, and how.
export function Differences({ answer }: { answer: WhatIf }) {
  if (answer.differences.length === 0) return <p className="note">No other job would fare differently.</p>;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="who fares differently">
      <table className="plain">
        <thead>
          <tr>
            <th>job</th>
            <th>user</th>
            <th>would</th>
            <th>because</th>
          </tr>
        </thead>
        <tbody>
          {answer.differences.map((each) => (
            <tr key={each.id}>
              <td>{each.id > 0 ? <Link href={`/jobs/${each.id}`}>{each.name}</Link> : each.name}</td>
              <td>{each.user}</td>
              <td>{formatWord(each.effect)}</td>
              <td>
                <bdi>{each.text}</bdi>
                {each.nodes.length > 0 && <span className="dim"> on {formatHosts(each.nodes)}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {answer.differences_left_out > 0 && <p className="dim">and {answer.differences_left_out} more</p>}
    </div>
  );
}
