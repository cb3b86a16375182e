import { useMemo } from 'react';
import { Link } from 'wouter';
import { useEventLog } from '../../api/eventLog';
import { useNodesAside, useSeries } from '../../api/queries';
import type { Cluster } from '../../api/types';
import { toneOf } from '../../components/Badge';
import { CapacityBar } from '../../components/CapacityBar';
import { Panel } from '../../components/Panel';
import { Failure, Loading } from '../../components/states';
import { capacityOf } from '../../lib/capacity';
import { formatCount, formatPercent, formatTime } from '../../lib/format';
import { lastHourOf } from '../../lib/lastHour';
import { countFailures, hourSeconds } from '../../lib/losses';
import { useNow } from '../../lib/useNow';
import { interruptions } from './Interruptions';

// What an admin looks at first: of all GPUs, which work, and what has failed.
export function Hero({ cluster }: { cluster: Cluster }) {
  const { jobs, nodes } = cluster;
  const aside = useNodesAside(nodes);
  const capacity = useMemo(() => aside.nodes && capacityOf(cluster.gpus, aside.nodes), [cluster.gpus, aside.nodes]);
  const notUp = (nodes.liveness.suspect ?? 0) + (nodes.liveness.down ?? 0);
  const closed = Object.entries(nodes.scheduling).reduce((sum, [word, n]) => sum + (word === 'open' ? 0 : (n ?? 0)), 0);
  return (
    <Panel className="flush">
      <div className="stack" style={{ padding: 'var(--s3) var(--s4)' }}>
        <div className="row wrap" style={{ gap: 'var(--s2) var(--s4)' }}>
          {capacity && (
            <span className="figure">
              <b>{formatPercent(capacity.used, capacity.total)}</b>
              <span className="dim">
                of all {formatCount(capacity.total)} {capacity.total === 1 ? 'GPU works' : 'GPUs work'}
              </span>
            </span>
          )}
          <Count word="running" count={jobs.running ?? 0} href="/jobs?state=running" />
          <Count word="queued" count={jobs.queued ?? 0} href="/jobs?state=queued" />
          <Count word="suspended" count={jobs.suspended ?? 0} href="/jobs?state=suspended" />
          <Failures />
          <Count word="down" title="nodes not up" count={notUp} href="/nodes?liveness=not_up" />
          <Count word="cordoned" title="nodes closed" count={closed} href="/nodes?scheduling=closed" />
        </div>
        {capacity ? <CapacityBar capacity={capacity} /> : aside.error ? <Failure error={aside.error} /> : <Loading lines={2} />}
        <LastHour />
      </div>
    </Panel>
  );
}

// What came of it within the hour, or since the server's first look if that is later.
function LastHour() {
  const series = useSeries('1h').data;
  const now = useNow(60_000);
  const hour = useMemo(() => series && lastHourOf(series), [series]);
  if (!hour) return null;
  return (
    <p className="dim small-text">
      Since {formatTime(hour.since, now)}: {hour.changes.length === 0 ? 'as many GPUs used, idle, closed and broken as then' : `${hour.changes.join(', ')} GPUs`}
    </p>
  );
}

// Attempts, because a job that is lost with its node runs again and fails nobody's list.
function Failures() {
  const { events } = useEventLog(interruptions, 1);
  const now = useNow(10_000);
  const found = useMemo(() => events && countFailures(events, now / 1000 - hourSeconds), [events, now]);
  if (!found) return null;
  return <Count word="failed" title={`failed or lost, ${found.isWhole ? 'last hour' : 'in less than an hour'}`} count={found.count} href="/jobs?state=failed" />;
}

function Count({ word, title, count, href }: { word: string; title?: string; count: number; href: string }) {
  return (
    <Link href={href}>
      <span style={{ fontSize: 'var(--text-xl)', fontWeight: 600, color: count > 0 ? toneOf(word) : 'var(--ink-3)' }}>
        {formatCount(count)}
      </span>{' '}
      <span className="dim">{title ?? word}</span>
    </Link>
  );
}
