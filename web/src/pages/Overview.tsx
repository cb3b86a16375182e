import { lazy, Suspense, useMemo } from 'react';
import { Link } from 'wouter';
import { useCluster, useIncidents, useJobList, useNodes } from '../api/queries';
import type { Cluster, Job } from '../api/types';
import { toneOf } from '../components/Badge';
import { type Bar, BarList } from '../components/BarList';
import { CapacityBar } from '../components/CapacityBar';
import { Panel } from '../components/Panel';
import { Await, Empty, Loading } from '../components/states';
import { formatAgo, formatCount, formatPercent, formatPlural, formatWord } from '../lib/format';
import { tally } from '../lib/jobRows';
import { useNow } from '../lib/useNow';
import { Activity } from './overview/Activity';

const OverviewCharts = lazy(() => import('./overview/OverviewCharts'));
// Enough for exact sums on a full cluster; beyond it the panel says what it counted.
const countedMax = 5_000;

export function Overview() {
  const cluster = useCluster();
  return (
    <>
      <h1 className="sr">Overview</h1>
      <div className="overview">
        <div className="hero">
          <Await answer={cluster} lines={3}>
            {(data) => <Hero cluster={data} />}
          </Await>
        </div>
        <Suspense fallback={<div className="span8"><Panel title="GPUs used"><Loading height="9.2rem" /></Panel></div>}>
          <OverviewCharts cluster={cluster.data} />
        </Suspense>
        <Waiting cluster={cluster.data} />
        <Running />
        <Incidents />
        <Activity />
      </div>
    </>
  );
}

function Hero({ cluster }: { cluster: Cluster }) {
  const { gpus, jobs, nodes } = cluster;
  const healthy = gpus.total - gpus.broken;
  const notUp = (nodes.liveness.suspect ?? 0) + (nodes.liveness.down ?? 0);
  const closed = Object.entries(nodes.scheduling).reduce((sum, [word, n]) => sum + (word === 'open' ? 0 : n), 0);
  return (
    <Panel className="flush">
      <div className="stack" style={{ padding: 'var(--s3) var(--s4)' }}>
        <div className="row wrap" style={{ gap: 'var(--s2) var(--s6)' }}>
          <span className="figure">
            <b>{formatPercent(gpus.used, healthy)}</b>
            <span className="dim">
              of {formatCount(healthy)} healthy GPUs {healthy === 1 ? 'works' : 'work'}
            </span>
          </span>
          <span className="grow" />
          <Count word="running" count={jobs.running ?? 0} href="/jobs?state=running" />
          <Count word="queued" count={jobs.queued ?? 0} href="/jobs?state=queued" />
          <Count word="suspended" count={jobs.suspended ?? 0} href="/jobs?state=suspended" />
          <Count word="down" title="nodes not up" count={notUp} href="/nodes?liveness=not_up" />
          <Count word="cordoned" title="nodes closed" count={closed} href="/nodes?scheduling=closed" />
        </div>
        <CapacityBar gpus={gpus} />
      </div>
    </Panel>
  );
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

const counted = (jobs: readonly Job[], isComplete: boolean): string | undefined =>
  isComplete ? undefined : `newest ${formatCount(jobs.length)}`;

function Waiting({ cluster }: { cluster: Cluster | undefined }) {
  const list = useJobList('state=queued&state=suspended', countedMax);
  const bars = useMemo(
    () =>
      tally(list.jobs, (job) => job.pending_reason?.code ?? 'not_considered')
        .sort((a, b) => b.jobs - a.jobs)
        .map((sum): Bar => {
          const example = list.jobs.find((job) => job.pending_reason?.code === sum.value);
          return {
            key: sum.value,
            label: formatWord(sum.value),
            value: sum.jobs,
            note: `${sum.jobs === 1 ? 'job' : 'jobs'}, ${formatPlural(sum.nodes, 'node')}`,
            tone: 'var(--queued)',
            href: `/jobs?state=queued&state=suspended&reason=${sum.value}`,
            title: example?.pending_reason?.text ?? '',
          };
        }),
    [list.jobs],
  );
  const total = (cluster?.jobs.queued ?? 0) + (cluster?.jobs.suspended ?? 0);
  return (
    <Panel className="span4" title="Waiting, by reason" aside={counted(list.jobs, list.isComplete) ?? `${formatCount(total)} jobs`}>
      {list.isLoading ? <Loading /> : bars.length > 0 ? <BarList bars={bars} /> : <Empty title="No job waits" />}
    </Panel>
  );
}

const runningBy: [title: string, key: (job: Job) => string, query: string][] = [
  ['user', (job) => job.user, 'user'],
  ['group', (job) => job.group, 'group'],
  ['priority', (job) => job.priority, ''],
];

function Running() {
  const list = useJobList('state=running', countedMax);
  const gpusOfNode = useNodes().data?.[0]?.gpus ?? 8;
  return (
    <>
      {runningBy.map(([title, key, query]) => (
        <Panel key={title} className={title === 'user' ? 'span4' : 'span4'} title={`GPUs by ${title}`} aside={counted(list.jobs, list.isComplete)}>
          {list.isLoading ? (
            <Loading />
          ) : list.jobs.length === 0 ? (
            <Empty title="Nothing runs" />
          ) : (
            <BarList
              limit={6}
              bars={tally(list.jobs, key, gpusOfNode).map((sum) => ({
                key: sum.value,
                label: formatWord(sum.value),
                value: sum.gpus,
                note: `in ${formatCount(sum.jobs)} ${sum.jobs === 1 ? 'job' : 'jobs'}`,
                tone: 'var(--gpu-used)',
                ...(query ? { href: `/jobs?state=running&${query}=${encodeURIComponent(sum.value)}` } : {}),
              }))}
            />
          )}
        </Panel>
      ))}
    </>
  );
}

function Incidents() {
  const incidents = useIncidents();
  const now = useNow();
  return (
    <Panel className="span4" title="Incidents" aside={<Link href="/incidents">all</Link>}>
      <Await answer={incidents}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing is wrong now" />
          ) : (
            <ul className="stack">
              {list.slice(0, 5).map((incident) => (
                <li key={incident.id} className="failure">
                  <div>{incident.summary}</div>
                  <div className="dim">
                    {formatWord(incident.kind)} · {formatAgo(incident.opened_at, now)}
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </Panel>
  );
}
