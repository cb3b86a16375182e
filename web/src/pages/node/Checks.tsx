import { useState } from 'react';
import type { Node, NodeCheck } from '../../api/types';
import { useDoubt } from '../../components/AllWell';
import { Badge } from '../../components/Badge';
import { Panel } from '../../components/Panel';
import { Empty } from '../../components/states';
import { Table } from '../../components/Table';
import { formatPast, formatPlural, formatWord } from '../../lib/format';
import type { Asked } from '../../lib/freshness';
import { healthOf } from '../../lib/silence';
import { useNow } from '../../lib/useNow';

const worstFirst = ['fail', 'warn', 'unknown', 'ok'];
const isWell = (check: NodeCheck): boolean => check.state === 'ok' || check.state === 'unknown';

// An unknown state is mostly hardware that is not there.
function said(checks: readonly NodeCheck[]): string {
  const count = (word: string): number => checks.filter((check) => check.state === word).length;
  return `${count('ok')} ok${count('unknown') > 0 ? `, ${count('unknown')} unknown` : ''}`;
}

function verdict(node: Node, isDoubtful: boolean): string {
  if (node.liveness !== 'up') return 'The node is silent, so nobody knows now. Its last report';
  if (isDoubtful) return 'Nobody knows now. When the server last said so';
  return node.checks.some((check) => check.state === 'ok') ? 'Nothing is wrong' : 'No check could tell';
}

// What is wrong comes first; the two dozen checks that are well are there when asked for.
export function Checks({ node, answer }: { node: Node; answer: Asked }) {
  const isDoubtful = useDoubt(answer) !== null;
  const [wantsAll, setWantsAll] = useState(false);
  const ailing = node.checks.filter((check) => !isWell(check)).length;
  const shown = node.checks
    .filter((check) => wantsAll || !isWell(check))
    .sort((a, b) => worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state));
  const rest = node.checks.length - ailing;
  return (
    <Panel title="Health checks" aside={<Badge word={healthOf(node)} />}>
      {shown.length > 0 ? (
        <CheckTable checks={shown} />
      ) : node.checks.length === 0 ? (
        <Empty title="No check has been reported yet" />
      ) : (
        <p>
          {verdict(node, isDoubtful)}: {said(node.checks)}.
        </p>
      )}
      {rest > 0 && (
        <button className="button small" style={{ marginTop: 'var(--s2)' }} aria-expanded={wantsAll} onClick={() => setWantsAll(!wantsAll)}>
          {wantsAll ? 'Hide what is well' : `Show ${formatPlural(rest, 'check')}`}
        </button>
      )}
    </Panel>
  );
}

function CheckTable({ checks }: { checks: readonly NodeCheck[] }) {
  const now = useNow(10_000);
  return (
    <Table label="health checks" className="cards">
      <thead>
        <tr>
          <th>check</th>
          <th>of</th>
          <th>state</th>
          <th>evidence</th>
          <th>since</th>
        </tr>
      </thead>
      <tbody>
        {checks.map((check) => (
          <tr key={`${check.name}/${check.subject}`}>
            <td>{formatWord(check.name)}</td>
            <td>{check.subject}</td>
            <td>
              <Badge word={check.state} />
            </td>
            <td className="text">
              <Evidence check={check} />
            </td>
            <td className="now" data-label="since">{formatPast(check.at, now)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Evidence({ check }: { check: NodeCheck }) {
  const text = (
    <>
      <bdi>{check.text}</bdi> {check.state === 'fail' && <span className="tag">asks for: {check.tier}</span>}{' '}
      {check.done && <span className="tag">done: {check.done}</span>}
    </>
  );
  if (!check.evidence) return text;
  return (
    <details>
      <summary>{text}</summary>
      <pre className="evidence mono">{check.evidence}</pre>
    </details>
  );
}
