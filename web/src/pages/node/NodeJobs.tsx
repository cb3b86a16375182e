import { Link } from 'wouter';
import { useJob, useNodeJobs } from '../../api/queries';
import type { Node, NodeStay } from '../../api/types';
import { Badge } from '../../components/Badge';
import { Panel } from '../../components/Panel';
import { Await, Empty } from '../../components/states';
import { Table } from '../../components/Table';
import { formatDuration, formatTime, formatWord, secondsBetween } from '../../lib/format';
import { gpusUsed } from '../../lib/gpuOwners';
import { timeRun } from '../../lib/timeRun';
import { useNow } from '../../lib/useNow';

export function JobsNow({ node }: { node: Node }) {
  return (
    <Panel title="Jobs now" aside={`${gpusUsed(node)} of ${node.gpus} GPUs in use${node.liveness === 'up' ? '' : ' when it was last heard'}`}>
      {node.jobs.length === 0 ? (
        <Empty title={node.liveness === 'up' ? 'Nothing runs here' : 'Nothing ran here when it was last heard'} />
      ) : (
        <Table label="jobs now" className="cards">
          <thead>
            <tr>
              <th className="num">id</th>
              <th>name</th>
              <th>user</th>
              <th>priority</th>
              <th>state</th>
              <th className="num">nodes</th>
              <th className="num">runs for</th>
            </tr>
          </thead>
          <tbody>
            {node.jobs.map((id) => (
              <JobRow key={id} id={id} />
            ))}
          </tbody>
        </Table>
      )}
    </Panel>
  );
}

function JobRow({ id }: { id: number }) {
  const job = useJob(String(id)).data;
  const now = useNow();
  if (!job) {
    return (
      <tr>
        <td className="num">{id}</td>
        <td colSpan={6} />
      </tr>
    );
  }
  return (
    <tr>
      <td className="num mono">{id}</td>
      <td className="title">
        <Link href={`/jobs/${id}`}>{job.name}</Link>
      </td>
      <td>{job.user}</td>
      <td>{formatWord(job.priority)}</td>
      <td>
        <Badge word={job.state} />
      </td>
      <td className="num" data-label="nodes">{job.node_count}</td>
      <td className="num" data-label="runs for">{job.started_at ? formatDuration(timeRun(job, now)) : '–'}</td>
    </tr>
  );
}

const shownMax = 30;

// Asked anew when others are there.
export function JobsBefore({ node }: { node: Node }) {
  const stays = useNodeJobs(node.name, node.jobs);
  const now = useNow(30_000);
  return (
    <Panel title="Jobs before" aside="latest first">
      <Await answer={stays}>
        {(all) => {
          const ended = all.filter((stay) => stay.ended_at !== null);
          return ended.length === 0 ? <Empty title="Nothing has ended here" /> : <Stays stays={ended.slice(0, shownMax)} now={now} />;
        }}
      </Await>
    </Panel>
  );
}

function Stays({ stays, now }: { stays: readonly NodeStay[]; now: number }) {
  return (
    <Table label="jobs before" className="cards">
      <thead>
        <tr>
          <th className="num">id</th>
          <th>name</th>
          <th>user</th>
          <th className="num">attempt</th>
          <th>ended as</th>
          <th>from</th>
          <th className="num">for</th>
          <th>why it ended</th>
        </tr>
      </thead>
      <tbody>
        {stays.map((stay) => (
          <tr key={`${stay.id}/${stay.attempt}/${stay.rank}`}>
            <td className="num mono">{stay.id}</td>
            <td className="title">
              <Link href={`/jobs/${stay.id}?attempt=${stay.attempt}&rank=${stay.rank}`}>{stay.name}</Link>
            </td>
            <td>{stay.user}</td>
            <td className="num" data-label="attempt">{stay.attempt}</td>
            <td>
              <Badge word={stay.state} />
            </td>
            <td className="now">{formatTime(stay.placed_at, now)}</td>
            <td className="num" data-label="for">{formatDuration(secondsBetween(stay.placed_at, stay.ended_at ?? now))}</td>
            <td className="text">{stay.end_reason}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
