import { useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useJobList, useNodes } from '../api/queries';
import type { Job, Node } from '../api/types';
import { Badge } from '../components/Badge';
import { Panel } from '../components/Panel';
import { Reason, useLivenessEvents } from '../components/Reason';
import { Empty, Failure, Loading } from '../components/states';
import { formatCount, formatPlural, formatWord } from '../lib/format';
import { gpuWords } from '../lib/gpuOwners';
import { gpusOf, tally } from '../lib/jobRows';
import { type ColorMode, colorModes, hashOf, heatColor, hueColor } from '../lib/mapColors';
import { useTitle } from '../lib/useTitle';
import { useTheme } from '../app/theme';
import { MapCanvas, type Spot } from './map/MapCanvas';

const jobsMax = 10_000;
const noNodes: readonly Node[] = [];

const isMeasured = (mode: ColorMode, nodes: readonly Node[]): boolean =>
  mode === 'utilisation'
    ? nodes.some((node) => node.gpu_utilization)
    : mode === 'temperature'
      ? nodes.some((node) => node.gpu_temperature)
      : true;

export default function MapPage() {
  useTitle('Map');
  const [, go] = useLocation();
  const query = new URLSearchParams(useSearch());
  const mode = colorModes.find((each) => each === query.get('color')) ?? 'job';
  const pinned = Number(query.get('job')) || null;
  const nodes = useNodes();
  const list = useJobList('state=running', jobsMax);
  const jobs = useMemo(() => new Map(list.jobs.map((job) => [job.id, job])), [list.jobs]);
  const [pointed, setPointed] = useState<Spot | null>(null);
  const [kept, setKept] = useState<Spot | null>(null);
  const spot = kept ?? pointed;
  const setMode = (next: ColorMode): void => go(next === 'job' ? '/map' : `/map?color=${next}`, { replace: true });
  const all = nodes.data ?? noNodes;
  const eventsOf = useLivenessEvents(all);
  const measured = useMemo(() => new Set(colorModes.filter((each) => isMeasured(each, all))), [all]);
  const gpus = useMemo(() => all.reduce((sum, node) => sum + node.gpus, 0), [all]);
  const byName = useMemo(() => new Map(all.map((node) => [node.name, node])), [all]);
  return (
    <>
      <div className="page-head">
        <h1>Map</h1>
        <span className="row wrap" role="group" aria-label="colour by" style={{ gap: 2 }}>
          {colorModes.map((each) => (
            <button
              key={each}
              className="button small"
              aria-pressed={mode === each}
              disabled={!measured.has(each)}
              title={measured.has(each) ? '' : 'The nodes do not report this yet'}
              onClick={() => setMode(each)}
            >
              {each}
            </button>
          ))}
        </span>
        <span className="grow" />
        {nodes.data && (
          <span className="dim">
            {formatCount(all.length)} nodes, {formatCount(gpus)} GPUs
          </span>
        )}
      </div>
      {nodes.error && <Failure error={nodes.error} />}
      {!nodes.data ? (
        !nodes.error && <Loading lines={10} />
      ) : all.length === 0 ? (
        <Empty title="No node has registered yet" />
      ) : (
        <div className="map-page">
          <MapCanvas
            nodes={all}
            jobs={jobs}
            mode={mode}
            lit={spot?.job?.id ?? pinned}
            spot={spot}
            isKept={kept !== null}
            onSpot={setPointed}
            onKeep={setKept}
            onOpen={(found) => go(found.job ? `/jobs/${found.job.id}` : `/nodes/${encodeURIComponent(found.node.name)}`)}
          />
          <div className="map-side stack" aria-live="polite">
            <SpotCard spot={spot && current(spot, byName, jobs)} eventsOf={eventsOf} onForget={kept && (() => setKept(null))} />
            <Key mode={mode} jobs={list.jobs} />
          </div>
        </div>
      )}
    </>
  );
}

// What is kept stays what it is now, not what it was when it was clicked.
function current(spot: Spot, nodes: ReadonlyMap<string, Node>, jobs: ReadonlyMap<number, Job>): Spot {
  const node = nodes.get(spot.node.name) ?? spot.node;
  const id = node.gpu_jobs[spot.gpu] ?? null;
  return { ...spot, node, job: id === null ? null : (jobs.get(id) ?? null) };
}

function SpotCard({ spot, eventsOf, onForget }: { spot: Spot | null; eventsOf: ReturnType<typeof useLivenessEvents>; onForget: (() => void) | null }) {
  const id = spot?.node.gpu_jobs[spot.gpu] ?? null;
  const forget = onForget && (
    <button className="button small quiet" onClick={onForget}>
      let go
    </button>
  );
  return (
    <Panel title={spot ? <Link href={`/nodes/${encodeURIComponent(spot.node.name)}`}>{spot.node.name}</Link> : 'Point at a GPU'} aside={forget}>
      <div style={{ minHeight: '13.5rem' }}>
        {!spot ? (
          <p className="dim">All ranks of its job light up. Click to keep it here; double click or Enter opens the job, or the node of a free GPU.</p>
        ) : (
          <dl className="facts">
            <dt>place</dt>
            <dd>
              zone {spot.node.zone}, {spot.node.leaf}
            </dd>
            <dt>node</dt>
            <dd className="row wrap">
              <Badge word={spot.node.liveness} /> <Badge word={spot.node.scheduling} />
            </dd>
            {spot.node.reason && (
              <>
                <dt>why</dt>
                <dd>
                  <Reason node={spot.node} events={eventsOf(spot.node.name)} />
                  {spot.node.reason_by && ` (${spot.node.reason_by})`}
                </dd>
              </>
            )}
            <dt>GPU {spot.gpu}</dt>
            <dd>{gpuWords(spot.node, spot.gpu)}</dd>
            {!spot.job && id !== null && (
              <>
                <dt>job</dt>
                <dd><Link href={`/jobs/${id}`}>{id}</Link></dd>
              </>
            )}
            {spot.job && (
              <>
                <dt>job</dt>
                <dd>
                  <Link href={`/jobs/${spot.job.id}`}>
                    {spot.job.id} {spot.job.name}
                  </Link>
                </dd>
                <dt>of</dt>
                <dd>
                  {spot.job.user}, {formatWord(spot.job.priority)}
                </dd>
                <dt>size</dt>
                <dd>
                  {formatPlural(spot.job.node_count, 'node')}, {formatPlural(gpusOf(spot.job, spot.node.gpus), 'GPU')}
                </dd>
              </>
            )}
          </dl>
        )}
      </div>
    </Panel>
  );
}

function Key({ mode, jobs }: { mode: ColorMode; jobs: Parameters<typeof tally>[0] }) {
  const isDark = useTheme() === 'dark';
  const users = useMemo(() => tally(jobs, (job) => job.user).slice(0, 14), [jobs]);
  const swatch = (color: string, text: React.ReactNode, key: string) => (
    <li key={key} className="row" style={{ fontSize: 'var(--text-s)' }}>
      <span className="swatch" style={{ background: color }} />
      {text}
    </li>
  );
  return (
    <Panel title="Key">
      <ul className="stack" style={{ gap: '0.2rem' }}>
        {mode === 'job' && swatch(hueColor(3, isDark), 'one colour per job', 'job')}
        {mode === 'user' && users.map((user) => swatch(hueColor(hashOf(user.value), isDark), <>{user.value} <span className="dim">{formatCount(user.gpus)} GPUs</span></>, user.value))}
        {mode === 'priority' && [1, 0.75, 0.45, 0.1].map((part, i) => swatch(heatColor(part, isDark), ['extreme high', 'high', 'normal', 'low'][i], `${part}`))}
        {(mode === 'utilisation' || mode === 'temperature') &&
          [0, 0.25, 0.5, 0.75, 1].map((part) => swatch(heatColor(part, isDark), mode === 'utilisation' ? `${100 * part} %` : `${30 + 55 * part} °C`, `${part}`))}
        {mode === 'health' && swatch('var(--gpu-used)', 'healthy, in use', 'used')}
        {swatch('var(--gpu-free)', 'free', 'free')}
        {swatch('var(--gpu-draining)', mode === 'health' ? 'warning, silent or closed' : 'closed', 'closed')}
        {mode !== 'health' && swatch('var(--lost)', 'silent', 'silent')}
        {swatch('var(--gpu-broken)', mode === 'health' ? 'down, or a check fails' : 'down', 'down')}
      </ul>
    </Panel>
  );
}
