import { Suspense } from 'react';
import { Link } from 'wouter';
import { useCluster } from '../api/queries';
import type { Cluster, JobSums, SumsByWord } from '../api/types';
import { useTroubles } from '../api/useTroubles';
import { AllWell } from '../components/AllWell';
import { type Bar, BarList } from '../components/BarList';
import { CodeBoundary, part } from '../components/CodeBoundary';
import { Panel } from '../components/Panel';
import { Await, Empty, Failure, Loading } from '../components/states';
import { Troubles } from '../components/Troubles';
import { formatCount, formatPlural, formatWord } from '../lib/format';
import { useTitle } from '../lib/useTitle';
import { Activity } from './overview/Activity';
import { Hero } from './overview/Hero';
import { Interruptions } from './overview/Interruptions';

const OverviewCharts = part(() => import('./overview/OverviewCharts'));

export function Overview() {
  useTitle('Overview');
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
        <WrongNow />
        <CodeBoundary>
          <Suspense fallback={<div className="span8"><Panel title="GPUs used"><Loading height="9.2rem" /></Panel></div>}>
            <OverviewCharts cluster={cluster.data} />
          </Suspense>
        </CodeBoundary>
        <Waiting cluster={cluster.data} />
        <Running cluster={cluster.data} />
        <div className="span4 stack">
          <Interruptions />
        </div>
        <Activity />
      </div>
    </>
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

const troublesShown = 3;

// What is wrong, by the judgement of the page Now, beside the headline.
function WrongNow() {
  const { troubles, since, error } = useTroubles();
  return (
    <Panel className="span4 incidents" title="Wrong now" aside={<Link href="/incidents">incidents</Link>}>
      {troubles === null ? (
        error ? <Failure error={error} /> : <Loading />
      ) : troubles.length === 0 ? (
        <AllWell title="Nothing is wrong now" since={since} />
      ) : (
        <Troubles troubles={troubles} most={troublesShown} />
      )}
    </Panel>
  );
}
