import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { useCluster, useIncidents } from '../api/queries';
import type { Cluster, JobSums, SumsByWord } from '../api/types';
import { toneOf } from '../components/Badge';
import { type Bar, BarList } from '../components/BarList';
import { CapacityBar } from '../components/CapacityBar';
import { Panel } from '../components/Panel';
import { Await, Empty, Loading } from '../components/states';
import { formatAgo, formatCount, formatPercent, formatPlural, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Activity } from './overview/Activity';
import { Interruptions } from './overview/Interruptions';

const OverviewCharts = lazy(() => import('./overview/OverviewCharts'));

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
        <Running cluster={cluster.data} />
        <div className="span4 stack">
          <Interruptions />
          <Incidents />
        </div>
        <Activity />
      </div>
    </>
  );
}

function Hero({ cluster }: { cluster: Cluster }) {
  const { gpus, jobs, nodes } = cluster;
  const healthy = gpus.total - gpus.broken;
  const notUp = (nodes.liveness.suspect ?? 0) + (nodes.liveness.down ?? 0);
  const closed = Object.entries(nodes.scheduling).reduce((sum, [word, n]) => sum + (word === 'open' ? 0 : (n ?? 0)), 0);
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

const barsOf = (sums: SumsByWord, value: 'jobs' | 'gpus', bar: (word: string, sum: JobSums) => Omit<Bar, 'key' | 'label' | 'value'>): Bar[] =>
  Object.entries(sums)
    .flatMap(([word, sum]): Bar[] => (sum ? [{ key: word, label: formatWord(word), value: sum[value], ...bar(word, sum) }] : []))
    .sort((a, b) => b.value - a.value);

function Waiting({ cluster }: { cluster: Cluster | undefined }) {
  const total = (cluster?.jobs.queued ?? 0) + (cluster?.jobs.suspended ?? 0);
  const bars = cluster
    ? barsOf(cluster.waiting.by_reason, 'jobs', (word, sum) => ({
        note: `${sum.jobs === 1 ? 'job' : 'jobs'}, ${formatPlural(sum.nodes, 'node')}`,
        tone: 'var(--queued)',
        href: `/jobs?state=queued&state=suspended&reason=${word}`,
      }))
    : [];
  return (
    <Panel className="span4" title="Waiting, by reason" aside={formatPlural(total, 'job')}>
      {!cluster ? <Loading /> : bars.length > 0 ? <BarList bars={bars} /> : <Empty title="No job waits" />}
    </Panel>
  );
}

const runningBy: [title: string, key: 'by_user' | 'by_group' | 'by_priority', query: string][] = [
  ['user', 'by_user', 'user'],
  ['group', 'by_group', 'group'],
  ['priority', 'by_priority', 'priority'],
];

function Running({ cluster }: { cluster: Cluster | undefined }) {
  return (
    <>
      {runningBy.map(([title, key, query]) => (
        <Panel key={title} className="span4" title={`GPUs by ${title}`} aside={cluster && `${formatCount(cluster.gpus.used)} in use`}>
          {!cluster ? (
            <Loading />
          ) : Object.keys(cluster.running[key]).length === 0 ? (
            <Empty title="Nothing runs" />
          ) : (
            <BarList
              limit={6}
              bars={barsOf(cluster.running[key], 'gpus', (word, sum) => ({
                note: `in ${formatCount(sum.jobs)} ${sum.jobs === 1 ? 'job' : 'jobs'}`,
                tone: 'var(--gpu-used)',
                href: `/jobs?state=running&${query}=${encodeURIComponent(word)}`,
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
    <Panel title="Incidents" aside={<Link href="/incidents">all</Link>}>
      <Await answer={incidents}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing is wrong now" />
          ) : (
            <ul className="stack">
              {list.slice(0, 5).map((incident) => (
                <li key={incident.id} className="failure">
                  <Link href="/incidents">{incident.summary}</Link>
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
