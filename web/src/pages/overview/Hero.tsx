import { useMemo } from 'react';
import { Link } from 'wouter';
import { useEventLog } from '../../api/eventLog';
import { useHistory, useNodesAside, useSeries } from '../../api/queries';
import type { Cluster } from '../../api/types';
import { toneOf } from '../../components/Badge';
import { CapacityBar } from '../../components/CapacityBar';
import { Panel } from '../../components/Panel';
import { Failure, Loading } from '../../components/states';
import { capacityOf } from '../../lib/capacity';
import { formatCount, formatDuration, formatPercent, formatTime } from '../../lib/format';
import { lastHourOf } from '../../lib/lastHour';
import { countedSince, failureKinds, failuresOf, hourMs } from '../../lib/losses';
import { useNow } from '../../lib/useNow';

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
          <Count word="queued" hint="jobs and tasks of arrays, also tasks that are still to come" count={jobs.queued ?? 0} href="/jobs?state=queued" />
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

// As the page History counts them, which shows the same hours; where the store has counted none, as the
// events below tell.
function Failures() {
  const now = useNow(10_000);
  const { events } = useEventLog(failureKinds, 1);
  const from = countedSince(now);
  const hours = new URLSearchParams({ since: new Date(from).toISOString(), until: new Date(from + 2 * hourMs).toISOString(), step: '1h' });
  const history = useHistory(hours.toString());
  // What is kept of the hours before is not of these.
  const report = history.isPlaceholderData ? undefined : history.data;
  const found = useMemo(() => events && failuresOf(report, events, now), [events, report, now]);
  if (!found || (history.isPending && !history.error)) return null;
  const { count, since, isStored, isWhole } = found;
  const whole = now - since >= hourMs ? 'hour' : formatDuration((now - since) / 1000);
  const when = isStored ? `since ${formatTime(new Date(since).toISOString(), now).replace(/:00$/, '')}` : `in the last ${whole}`;
  const title = `failed or requeued by faults ${when}${isWhole ? '' : ', at least'}`;
  return <Count word="failed" title={title} count={count} href={isStored ? `/history?${hours}#failures` : '#lately'} />;
}

function Count({ word, title, hint, count, href }: { word: string; title?: string; hint?: string; count: number; href: string }) {
  const text = (
    <>
      <span style={{ fontSize: 'var(--text-xl)', fontWeight: 600, color: count > 0 ? toneOf(word) : 'var(--ink-3)' }}>
        {formatCount(count)}
      </span>{' '}
      <span className="dim">{title ?? word}</span>
    </>
  );
  return href.startsWith('#') ? <a href={href}>{text}</a> : <Link href={href} title={hint}>{text}</Link>;
}
