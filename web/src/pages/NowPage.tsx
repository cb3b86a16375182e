import { Link, useLocation } from 'wouter';
import { useCluster, useRunningOwners } from '../api/queries';
import { useTroubles } from '../api/useTroubles';
import { goKeys, useShortcuts } from '../app/keyboard';
import { Hurt } from '../components/Hurt';
import { formatCount, formatDuration, formatTime } from '../lib/format';
import { silence, staleSince } from '../lib/freshness';
import { useStore } from '../lib/store';
import type { Trouble } from '../lib/troubles';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { useZone, zoneLetters, zoneName } from '../lib/zone';

// For whoever was woken at three, on a phone or a wall: what is wrong, since when, whom it hurts, what hai
// does about it by itself and when that ends, and what is left to a person. Nothing else.
const shownMax = 4;
const jobsMax = 6; // with a link each
const nothing = (): void => undefined;

interface State {
  tone: 'well' | 'bad' | 'unknown';
  title: string;
  note: string;
  troubles: Trouble[];
}

function useWhatIsWrong(): State {
  const { troubles, since: doubt, error } = useTroubles();
  const isSilent = useStore(silence);
  const stale = useStore(staleSince);
  if (isSilent) return unknown(isSilent.since, `The server does not answer${isSilent.why && `: ${isSilent.why}`}.`, troubles);
  // A server that can decide nothing answers, and what it does not know stays as it was.
  const isDoubtful = doubt !== null && stale === null;
  if (error && (isDoubtful || !troubles)) return unknown(isDoubtful ? doubt : null, `${error.message}.`, troubles);
  if (!troubles) return { tone: 'unknown', title: 'Asking…', note: '', troubles: [] };
  if (isDoubtful) return unknown(doubt, 'The newest answers are old; asking anew.', troubles);
  if (troubles.length === 0) return { tone: 'well', title: 'Nothing is wrong', note: '', troubles };
  const needing = troubles.filter((each) => each.person !== '').length;
  return {
    tone: 'bad',
    title: troubles.length === 1 ? '1 thing is wrong' : `${formatCount(troubles.length)} things are wrong`,
    note: needing === 0 ? 'None needs a person.' : `${needing === troubles.length ? (needing === 1 ? 'It' : 'All') : formatCount(needing)} ${needing === 1 ? 'needs' : 'need'} a person.`,
    troubles,
  };
}

function unknown(since: number | null, why: string, before: readonly Trouble[] | null): State {
  const at = since === null ? null : formatTime(new Date(since).toISOString(), Date.now());
  const then = before && at !== null ? ` At ${at} ${before.length === 0 ? 'nothing was wrong' : before.length === 1 ? 'one thing was wrong' : `${before.length} things were wrong`}.` : '';
  const trouble: Trouble = {
    key: 'silence', incident: null, what: why, href: '/', since, jobs: [], gpus: 0, isWholeLoss: true, blocks: 'nobody knows',
    itself: 'Running jobs go on without the server; a standby, if there is one, leads within seconds', ends: 'when a server answers; this page asks again each second',
    person: 'See whether hai-server runs, and the network to it works',
  };
  return { tone: 'unknown', title: 'Unknown', note: `What is wrong is not known.${then}`, troubles: [trouble] };
}

export default function NowPage({ isDemo }: { isDemo: boolean }) {
  const [, go] = useLocation();
  useShortcuts(go, nothing, nothing);
  const state = useWhatIsWrong();
  const cluster = useCluster().data;
  const now = useNow();
  const zone = useZone();
  useTitle(state.title);
  const owners = useRunningOwners(state.troubles.some((each) => each.jobs.length > 0)).data;
  const rest = state.troubles.slice(shownMax);
  return (
    <main className="now" data-tone={state.tone} data-few={state.troubles.length < 3 || undefined}>
      <header>
        <div role="status">
          <h1>{state.title}</h1>
          {state.note !== '' && <p>{state.note}</p>}
        </div>
        <p className="now-where">
          {cluster?.name ?? 'hai'}
          {isDemo && ' (demo)'} <Link href={goKeys.o![0]}>{goKeys.o![1]}</Link> <time>{formatTime(new Date(now).toISOString(), Date.now())}</time> <span title={`times are of ${zoneName(zone)}`}>{zoneLetters(zone)}</span>
        </p>
      </header>
      {state.troubles.length > 0 && (
        <ul>
          {state.troubles.slice(0, shownMax).map((trouble) => (
            <Card key={trouble.key} trouble={trouble} owners={owners} now={state.tone === 'unknown' ? Date.now() : now} />
          ))}
        </ul>
      )}
      {rest.length > 0 && (
        <p className="now-rest">
          and {formatCount(rest.length)} more, {restNeed(rest)}: <Link href="/incidents">all incidents</Link>, <Link href="/nodes?liveness=not_up">silent nodes</Link>
        </p>
      )}
    </main>
  );
}

function restNeed(rest: readonly Trouble[]): string {
  const count = rest.filter((each) => each.person !== '').length;
  return count === 0 ? 'none of which needs a person' : `${formatCount(count)} of which ${count === 1 ? 'needs' : 'need'} a person`;
}

function Card({ trouble, owners, now }: { trouble: Trouble; owners: ReadonlyMap<number, string> | undefined; now: number }) {
  const { what, href, since, itself, ends, person } = trouble;
  return (
    <li data-needs={person !== '' || undefined}>
      <h2>
        <Link href={href}>{what}</Link>
      </h2>
      <dl>
        <dt>since</dt>
        <dd>{since === null ? 'not known' : `${formatTime(new Date(since).toISOString(), now)}, ${formatDuration((now - since) / 1000)}`}</dd>
        <dt>hurts</dt>
        <dd>
          <Hurt trouble={trouble} owners={owners} most={jobsMax} />
        </dd>
        <dt>hai</dt>
        <dd>
          {itself}. That ends {ends}.
        </dd>
        <dt>you</dt>
        <dd className="now-you">{person === '' ? 'Nothing to do.' : `${person}.`}</dd>
      </dl>
    </li>
  );
}
