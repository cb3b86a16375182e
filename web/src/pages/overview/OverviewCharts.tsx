import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useSeries } from '../../api/queries';
import type { Cluster, Series } from '../../api/types';
import { Chart } from '../../components/Chart';
import { Panel } from '../../components/Panel';
import { SaveChart } from '../../components/SaveChart';
import { Empty, Failure, Loading } from '../../components/states';

const windows: [value: string, title: string][] = [
  ['1h', 'hour'],
  ['6h', '6 hours'],
  ['24h', 'day'],
  ['7d', 'week'],
  ['30d', '30 days'],
  ['90d', '90 days'],
];

const usual = '6h';

// In the address, so that a link shows the same time; one that nobody offers is the usual one.
function useWindow(): [string, (window: string) => void] {
  const query = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const asked = query.get('window') ?? usual;
  const show = (window: string): void => {
    if (window === usual) query.delete('window');
    else query.set('window', window);
    go(query.size === 0 ? '/' : `/?${query}`, { replace: true });
  };
  return [windows.some(([value]) => value === asked) ? asked : usual, show];
}

export default function OverviewCharts({ cluster }: { cluster: Cluster | undefined }) {
  const [window, setWindow] = useWindow();
  const { data, error } = useSeries(window);
  const plot = useMemo(() => data && plotOf(data), [data]);
  const body = (content: (data: NonNullable<typeof plot>) => React.ReactNode) =>
    error ? (
      <Failure error={error} />
    ) : !plot ? (
      <Loading height="9.2rem" />
    ) : plot.times.length < 2 ? (
      <Empty title="Nothing is recorded yet">The first points come within a minute.</Empty>
    ) : (
      content(plot)
    );
  const choice = (
    <select className="select small" aria-label="how far back" value={window} onChange={(event) => setWindow(event.target.value)}>
      {windows.map(([value, title]) => (
        <option key={value} value={value}>
          last {title}
        </option>
      ))}
    </select>
  );
  const save = (title: string, key: 'used' | 'waiting') => {
    if (!plot || plot.times.length < 2) return null;
    const [times, lines] = [plot.times.map((at) => at * 1000), plot[key]];
    return (
      <SaveChart
        name={`${title.toLowerCase().replace(' ', '-')}-${window}`}
        title={title}
        csv={({ csvOf }) => csvOf(times, lines)}
        svg={({ linesSvg }) => linesSvg({ title, times, lines })}
      />
    );
  };
  return (
    <>
      <Panel className="span4" title="GPUs used" aside={<span className="row">{save('GPUs used', 'used')} {choice}</span>}>
        {body(({ times, used }) => (
          <Chart label="GPUs used over time" times={times} series={used} top={cluster?.gpus.total ?? 0} />
        ))}
      </Panel>
      <Panel className="span4" title="Jobs waiting" aside={save('Jobs waiting', 'waiting')}>
        {body(({ times, waiting }) => (
          <Chart label="jobs waiting over time" times={times} series={waiting} />
        ))}
      </Panel>
    </>
  );
}

const plotOf = (data: Series) => ({
  times: data.at.map((at) => Date.parse(at) / 1000),
  used: [{ label: 'used', color: '--gpu-used', isFilled: true, values: data.gpus_used }],
  waiting: [
    { label: 'waiting', color: '--queued', isFilled: true, values: data.jobs_queued.map((queued, i) => queued + (data.jobs_suspended[i] ?? 0)) },
  ],
});
