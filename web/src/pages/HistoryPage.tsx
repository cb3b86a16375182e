import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useHistory } from '../api/queries';
import type { HistoryReport } from '../api/types';
import { Panel } from '../components/Panel';
import { Await } from '../components/states';
import { toast } from '../components/Toasts';
import { formatPlural, formatTime } from '../lib/format';
import { chartsOf, dayMs, historyQuery, type HistoryRange, historySteps, onSteps, otherOf, presets, readHistoryRange } from '../lib/history';
import { useTitle } from '../lib/useTitle';
import { HistoryChart } from './history/HistoryChart';
import '../styles/queue.css';

// Failures, waits, use and losses over days and months, as the store has counted them; beside them the
// same time before, or any other that is as long.
export default function HistoryPage() {
  useTitle('History');
  const search = useSearch();
  const [, go] = useLocation();
  const [now] = useState(Date.now);
  const range = useMemo(() => readHistoryRange(search, now), [search, now]);
  const report = useHistory(requestOf(range));
  const earlier = useHistory(requestOf(otherOf(range)), range.beside !== null);
  const isFixed = new URLSearchParams(search).has('since');
  const show = (query: string): void => go(`/history?${query}`, { replace: true });
  const setRange = (part: Partial<HistoryRange>): void => show(historyQuery({ ...range, ...part }));
  const compare = range.beside === 'before' ? '&compare=1' : '';
  const days = isFixed ? null : Number(new URLSearchParams(search).get('days') ?? 7);
  const copy = async (): Promise<void> => {
    const link = `${location.origin}/history?${historyQuery(range)}`;
    try {
      await navigator.clipboard.writeText(link);
      toast('Link copied: it shows this very time again');
    } catch {
      show(historyQuery(range));
      toast('The link is in the address bar: it shows this very time again');
    }
  };
  return (
    <>
      <div className="page-head">
        <h1>History</h1>
        <span className="dim">{range.step === '1h' ? 'hour by hour' : range.step === '1d' ? 'day by day, days of UTC' : 'week by week, from Mondays of UTC'}</span>
        <span className="grow" />
        <button className="button" onClick={() => void copy()}>
          Link to this
        </button>
      </div>
      <div className="history-bar" role="group" aria-label="which time">
        <span className="row wrap" role="group" aria-label="the last">
          {presets.map((each) => (
            <button key={each} className="button" aria-pressed={days === each} onClick={() => show(`days=${each}${compare}`)}>
              {formatPlural(each, 'day')}
            </button>
          ))}
        </span>
        <Day label="From (UTC)" at={range.since} onChange={(since) => since < range.until && setRange({ since })} />
        <Day label="Until before (UTC)" at={range.until} onChange={(until) => until > range.since && setRange({ until })} />
        <label className="field" style={{ flex: '0 1 8rem' }}>
          Step
          <select className="select" value={range.step} onChange={(event) => setRange({ step: event.target.value as HistoryRange['step'] })}>
            {historySteps.map((step) => (
              <option key={step} value={step}>
                {{ '1h': 'hour', '1d': 'day', '7d': 'week' }[step]}
              </option>
            ))}
          </select>
        </label>
        <label className="row" style={{ height: '2rem' }}>
          <input type="checkbox" checked={range.beside !== null} onChange={(event) => show(isFixed ? historyQuery({ ...range, beside: event.target.checked ? 'before' : null }) : `days=${days}${event.target.checked ? '&compare=1' : ''}`)} /> beside the same time before
        </label>
        {range.beside !== null && <Day label="or beside the time from (UTC)" at={otherOf(range).since} onChange={(beside) => beside < now && setRange({ beside })} />}
      </div>
      <Await answer={report} lines={12}>
        {(data) => <Charts report={data} range={range} earlier={range.beside !== null ? earlier.data : undefined} />}
      </Await>
    </>
  );
}

const requestOf = ({ since, until, step }: HistoryRange): string => new URLSearchParams({ since: new Date(since).toISOString(), until: new Date(until).toISOString(), step }).toString();

function Day({ label, at, onChange }: { label: string; at: number; onChange: (at: number) => void }) {
  return (
    <label className="field">
      {label}
      <input
        className="input" type="date" value={new Date(at).toISOString().slice(0, 10)}
        onChange={(event) => event.target.value !== '' && onChange(Date.parse(`${event.target.value}T00:00:00Z`))}
      />
    </label>
  );
}

function Charts({ report, range, earlier }: { report: HistoryReport; range: HistoryRange; earlier: HistoryReport | undefined }) {
  const shown = useMemo(() => onSteps(report, range), [report, range]);
  const charts = useMemo(() => chartsOf(shown.report), [shown]);
  const past = useMemo(() => earlier && chartsOf(onSteps(earlier, otherOf(range)).report), [earlier, range]);
  const keptFrom = report.kept_from;
  return (
    <div className="stack">
      <div className="history-grid">
        {charts.map((chart, i) => (
          <HistoryChart key={chart.key} chart={chart} times={shown.times} range={range} past={past?.[i] ?? null} />
        ))}
      </div>
      <Panel>
        <p className="dim small-text" style={{ paddingTop: 'var(--s3)' }}>
          {report.counted_to ? `Counted from the event log up to ${formatTime(report.counted_to, Date.now())}` : 'Nothing has been counted yet: the server begins soon after it leads'}
          {keptFrom && range.since < Date.parse(keptFrom) - dayMs && `; kept since ${formatTime(keptFrom, Date.now())}: before that nothing is known, which is a gap and no zero`}. Waits are those that ended in a step, from
          queue to running, within 8 %.
        </p>
      </Panel>
    </div>
  );
}
