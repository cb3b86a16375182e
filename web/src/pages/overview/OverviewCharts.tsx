import { useMemo } from 'react';
import { useEventLog } from '../../api/eventLog';
import { useJobList, useNodes } from '../../api/queries';
import type { Cluster } from '../../api/types';
import { Chart } from '../../components/Chart';
import { Panel } from '../../components/Panel';
import { Failure, Loading } from '../../components/states';
import { formatCount, formatDuration, formatGpuHours } from '../../lib/format';
import { rebuildHistory, thinOut } from '../../lib/history';
import { gpusOf } from '../../lib/jobRows';
import { useNow } from '../../lib/useNow';

const kinds = ['job_submitted', 'attempt_placed', 'attempt_suspending', 'attempt_ended'];
const pagesMax = 5;
const pointsMax = 600;

// The lists the overview shows anyway, and the newest jobs of all.
function useSizes(): (id: number) => number | undefined {
  const lists = [useJobList('finished=true', 0), useJobList('state=queued&state=suspended', 0), useJobList('state=running', 0)];
  const gpusOfNode = useNodes().data?.[0]?.gpus ?? 8;
  const [ended, waiting, running] = lists.map((list) => list.jobs);
  return useMemo(() => {
    const sizes = new Map<number, number>();
    for (const jobs of [ended, waiting, running]) for (const job of jobs ?? []) sizes.set(job.id, gpusOf(job, gpusOfNode));
    return (id) => sizes.get(id);
  }, [ended, waiting, running, gpusOfNode]);
}

export default function OverviewCharts({ cluster }: { cluster: Cluster | undefined }) {
  const { events, error } = useEventLog(kinds, pagesMax);
  const now = useNow(5_000);
  const sizeOf = useSizes();
  const history = useMemo(() => {
    if (!cluster || !events) return null;
    const waiting = (cluster.jobs.queued ?? 0) + (cluster.jobs.suspended ?? 0);
    return rebuildHistory(events, { now, gpusUsed: cluster.gpus.used, waiting }, sizeOf);
  }, [cluster, events, now, sizeOf]);

  const plot = useMemo(() => {
    const samples = thinOut(history?.samples ?? [], pointsMax);
    return {
      times: samples.map((sample) => sample.time),
      used: [{ label: 'used', color: '--gpu-used', isFilled: true, values: samples.map((sample) => sample.gpusUsed) }],
      waiting: [{ label: 'waiting', color: '--queued', isFilled: true, values: samples.map((sample) => sample.waiting) }],
    };
  }, [history]);

  const span = history ? formatDuration(now / 1000 - (history.samples[0]?.time ?? now / 1000)) : '';
  const body = (content: React.ReactNode) =>
    error ? <Failure error={error} /> : history ? content : <Loading height="9.2rem" />;
  return (
    <>
      <Panel className="span4" title="GPUs used" aside={history && `last ${span}, from the event log`}>
        {body(<Chart label="GPUs used over time" times={plot.times} series={plot.used} top={cluster?.gpus.total ?? 0} />)}
      </Panel>
      <Panel
        className="span4"
        title="Jobs waiting"
        aside={
          history && `${formatCount(history.suspensions)} suspensions, ${formatGpuHours(history.lostGpuSeconds)} GPU-hours lost`
        }
      >
        {body(<Chart label="jobs waiting over time" times={plot.times} series={plot.waiting} />)}
      </Panel>
    </>
  );
}
