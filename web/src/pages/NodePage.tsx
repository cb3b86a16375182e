import { Link } from 'wouter';
import { useJob, useNode, useNodeEvents } from '../api/queries';
import type { Node, NodeCheck } from '../api/types';
import { Badge } from '../components/Badge';
import { EventFeed } from '../components/EventFeed';
import { NodeActions } from '../components/NodeActions';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { formatAgo, formatBytes, formatDuration, formatWord, secondsBetween } from '../lib/format';
import { useNow } from '../lib/useNow';

export default function NodePage({ name }: { name: string }) {
  const node = useNode(name);
  return (
    <Await answer={node} lines={8}>
      {(data) => <Loaded node={data} />}
    </Await>
  );
}

function Loaded({ node }: { node: Node }) {
  const events = useNodeEvents(node.name);
  return (
    <>
      <div className="page-head">
        <h1>{node.name}</h1>
        <Badge word={node.liveness} boxed />
        <Badge word={node.scheduling} boxed />
        <span className="dim">
          zone {node.zone}, {node.leaf}, group {node.group}
        </span>
        <span className="grow" />
        <NodeActions nodes={[node]} />
      </div>
      {node.reason && (
        <p className={node.liveness === 'down' ? 'failure' : 'note'} style={{ marginBottom: 'var(--s3)' }}>
          {node.reason}
          {node.reason_by && <span className="dim"> — {node.reason_by}</span>}
        </p>
      )}
      <div className="job-page">
        <div className="stack">
          <Panel title="Jobs" aside={`${node.gpus - node.gpus_free} of ${node.gpus} GPUs in use`}>
            {node.jobs.length === 0 ? (
              <Empty title="Nothing runs here" />
            ) : (
              <table className="plain">
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
              </table>
            )}
          </Panel>
          <Checks node={node} />
          <Panel title="Events" aside="newest first">
            <Await answer={events}>{(list) => <EventFeed events={list} />}</Await>
          </Panel>
        </div>
        <Panel title="Machine">
          <dl className="facts">
            <dt>GPUs</dt>
            <dd>
              {node.gpus} × {node.gpu_model}
            </dd>
            <dt>CPUs</dt>
            <dd>{node.cpus}</dd>
            <dt>memory</dt>
            <dd>{formatBytes(node.memory_bytes)}</dd>
            <dt>address</dt>
            <dd className="mono">{node.address}</dd>
            <dt>agent</dt>
            <dd>{node.agent_version}</dd>
            <dt>health</dt>
            <dd>
              <Badge word={node.health} />
            </dd>
          </dl>
        </Panel>
      </div>
    </>
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
      <td>
        <Link href={`/jobs/${id}`}>{job.name}</Link>
      </td>
      <td>{job.user}</td>
      <td>{formatWord(job.priority)}</td>
      <td>
        <Badge word={job.state} />
      </td>
      <td className="num">{job.node_count}</td>
      <td className="num">{job.started_at ? formatDuration(secondsBetween(job.started_at, now)) : '–'}</td>
    </tr>
  );
}

const verdict = (check: NodeCheck): string => check.verdict ?? check.state ?? 'unknown';

function Checks({ node }: { node: Node }) {
  const now = useNow(10_000);
  return (
    <Panel title="Health checks" aside={<Badge word={node.health} />}>
      {node.checks.length === 0 ? (
        <Empty title="The server tells no single checks yet">
          <span>Overall the agent reports: {node.health}.</span>
        </Empty>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th>check</th>
              <th>of</th>
              <th>verdict</th>
              <th>evidence</th>
              <th>since</th>
            </tr>
          </thead>
          <tbody>
            {node.checks.map((check) => (
              <tr key={`${check.name}/${check.subject ?? ''}`}>
                <td>{formatWord(check.name)}</td>
                <td>{check.subject ?? ''}</td>
                <td>
                  <Badge word={verdict(check)} />
                </td>
                <td>
                  {check.summary ?? check.text ?? ''} {check.tier && <span className="tag">{check.tier}</span>}
                </td>
                <td>{formatAgo(check.at ?? null, now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
