import { useMemo } from 'react';
import { Link } from 'wouter';
import { useEventLog } from '../../api/eventLog';
import { useHistory } from '../../api/queries';
import { toneOf } from '../../components/Badge';
import { type Bar, BarList } from '../../components/BarList';
import { Panel } from '../../components/Panel';
import { Await, Empty, Loading } from '../../components/states';
import { formatCount, formatGpuHours, formatTime } from '../../lib/format';
import { countLosses, dayUpTo, type StoredLosses, storedLosses } from '../../lib/losses';
import { useNow } from '../../lib/useNow';

const interruptions = ['attempt_suspending', 'attempt_ended'];
const titles: Record<string, string> = {
  suspended: 'suspended, to go on later',
  lost: 'lost with their node, run again',
  failed: 'failed',
  stopped: 'stopped by people',
};

// Of the last day, as the store has counted it; where it has counted nothing, as far back as the loaded events reach. The
// panel says which.
export function Interruptions() {
  const now = useNow(60_000);
  const { since, until } = dayUpTo(now);
  const query = new URLSearchParams({ since: new Date(since).toISOString(), until: new Date(until).toISOString(), step: '1h' }).toString();
  const { data, error, isPending } = useHistory(query);
  const stored = useMemo(() => data && storedLosses(data, since), [data, since]);
  if (stored) return <OfStore losses={stored} now={now} address={`/history?${query}#lost`} />;
  if (isPending && !error) return <Panel title="Interruptions and lost work"><Loading /></Panel>;
  return <OfEvents />;
}

function OfStore({ losses, now, address }: { losses: StoredLosses; now: number; address: string }) {
  const { since, countedTo, preemptions, faults, failed, stopped, gpuSeconds } = losses;
  const time = (at: number): string => formatTime(new Date(at).toISOString(), now);
  const bars: (Omit<Bar, 'key'> & { word: string })[] = [
    { word: 'suspended', label: 'made room for others', value: preemptions },
    { word: 'lost', label: 'requeued by faults', value: faults },
    { word: 'failed', label: 'failed', value: failed },
    { word: 'stopped', label: 'stopped', value: stopped },
  ];
  const shown = bars.filter(({ value }) => value > 0);
  return (
    <Panel title="Interruptions and lost work" aside={<Link href={address}>since {time(since).replace(/:00$/, '')}</Link>}>
      <div className="stack" style={{ gap: 'var(--s2)' }}>
        <Figure value={formatGpuHours(gpuSeconds)} title="GPU-hours to be done again" />
        {shown.length === 0 ? <Empty title="No job was interrupted" /> : <BarList bars={shown.map(({ word, ...bar }) => ({ ...bar, key: word, note: bar.value === 1 ? 'time' : 'times', tone: toneOf(word) }))} />}
        <p className="dim small-text">Counted up to {time(countedTo)}.</p>
      </div>
    </Panel>
  );
}

function OfEvents() {
  const { events, error, isPending } = useEventLog(interruptions, 1);
  const now = useNow(10_000);
  const losses = useMemo(() => countLosses(events ?? []), [events]);
  const aside = losses && `since ${formatTime(new Date(losses.since * 1000).toISOString(), now)}`;
  return (
    <Panel title="Interruptions and lost work" aside={aside}>
      <Await answer={{ data: events && { losses }, error, isPending }}>
        {() =>
          !losses || (losses.byOutcome.length === 0 && losses.suspensions === 0) ? (
            <Empty title="No job was interrupted" />
          ) : (
            <div className="stack" style={{ gap: 'var(--s2)' }}>
              <p className="row wrap" style={{ gap: 'var(--s1) var(--s5)' }}>
                <Figure value={formatCount(losses.suspensions)} title={losses.suspensions === 1 ? 'suspension' : 'suspensions'} />
                <Figure value={formatGpuHours(losses.gpuSeconds)} title="GPU-hours to be done again" />
              </p>
              <BarList
                bars={losses.byOutcome.map((each) => ({
                  key: each.outcome,
                  label: titles[each.outcome],
                  value: each.attempts,
                  note: `${each.attempts === 1 ? 'attempt' : 'attempts'}, ${formatGpuHours(each.gpuSeconds)} GPU-hours lost`,
                  tone: toneOf(each.outcome),
                }))}
              />
              <p className="dim small-text">Of the newest {formatCount(events?.length ?? 0)} events alone: the store has counted nothing.</p>
            </div>
          )
        }
      </Await>
    </Panel>
  );
}

function Figure({ value, title }: { value: string; title: string }) {
  return (
    <span>
      <b style={{ fontSize: 'var(--text-xl)', fontWeight: 600 }}>{value}</b> <span className="dim">{title}</span>
    </span>
  );
}
