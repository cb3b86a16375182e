import { Link } from 'wouter';
import { useNode, useNodeEvents } from '../api/queries';
import type { Node } from '../api/types';
import { AuditLines } from '../components/AuditLine';
import { Badge } from '../components/Badge';
import { NodeActions } from '../components/NodeActions';
import { Panel } from '../components/Panel';
import { Reason } from '../components/Reason';
import { Await } from '../components/states';
import { formatAgo, formatBytes, formatTime, formatWord } from '../lib/format';
import type { Asked } from '../lib/freshness';
import { healthOf, livenessChanges } from '../lib/silence';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { Checks } from './node/Checks';
import { Gpus } from './node/Gpus';
import { NodeHistory } from './node/NodeHistory';
import { JobsBefore, JobsNow } from './node/NodeJobs';

export default function NodePage({ name }: { name: string }) {
  const node = useNode(name);
  useTitle(node.data ? `${name}, ${node.data.liveness}, ${node.data.scheduling}` : name);
  return (
    <>
      {!node.data && <h1 className="sr">Node {name}</h1>}
      <Await answer={node} lines={8}>
        {(data) => <Loaded node={data} answer={node} />}
      </Await>
    </>
  );
}

function WhyClosed({ node }: { node: Node }) {
  const events = useNodeEvents(node.name, livenessChanges, []);
  return <Reason node={node} events={events.data ?? []} />;
}

function Deadline({ at }: { at: string }) {
  const now = useNow(10_000);
  return (
    <>
      {' '}
      Its jobs may end by themselves until {formatTime(at, now)} ({formatAgo(at, now)}); those that still run leave then.
    </>
  );
}

function Loaded({ node, answer }: { node: Node; answer: Asked }) {
  return (
    <>
      <div className="page-head">
        <h1>{node.name}</h1>
        <Badge word={node.liveness} boxed />
        <Badge word={node.scheduling} boxed />
        <span className="dim">
          {[node.zone && `zone ${node.zone}`, node.leaf, `group ${node.group}`].filter(Boolean).join(', ')}
        </span>
        <span className="grow" />
        <NodeActions nodes={[node]} />
      </div>
      {(node.reason ?? node.drain_at) && (
        <p className={node.liveness === 'down' ? 'failure' : 'note'} style={{ marginBottom: 'var(--s3)' }}>
          <WhyClosed node={node} />
          {node.reason_by && <span className="dim"> — {node.reason_by}.</span>}
          {node.drain_at && <Deadline at={node.drain_at} />}
        </p>
      )}
      <div className="job-page">
        <div className="stack">
          <JobsNow node={node} />
          <Checks node={node} answer={answer} />
          <JobsBefore node={node} />
          <NodeHistory node={node} />
          <AuditLines about={{ target: `node/${node.name}` }} title="Who did what with it" />
        </div>
        <div className="stack">
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
              {node.labels.length > 0 && (
                <>
                  <dt>labels</dt>
                  <dd>{node.labels.join(', ')}</dd>
                </>
              )}
              {node.set.length > 0 && (
                <>
                  <dt>set by an operator</dt>
                  <dd>{node.set.join(', ')}</dd>
                </>
              )}
              <dt>health</dt>
              <dd>
                <Badge word={healthOf(node)} />
              </dd>
              {node.repair && (
                <>
                  <dt>repair</dt>
                  <dd>
                    {formatWord(node.repair.step)}: {node.repair.reason}{' '}
                    {node.repair.job !== null && <Link href={`/jobs/${node.repair.job}`}>validation</Link>}
                  </dd>
                </>
              )}
              {node.validation?.text && (
                <>
                  <dt>validation</dt>
                  <dd>{node.validation.text}</dd>
                </>
              )}
              {node.lemon_text && (
                <>
                  <dt>record</dt>
                  <dd>
                    {node.lemon_score} points: {node.lemon_text}
                  </dd>
                </>
              )}
            </dl>
          </Panel>
          <Gpus node={node} />
        </div>
      </div>
    </>
  );
}
