import { Suspense, useMemo } from 'react';
import { useCheckpoints, useProgress } from '../../api/queries';
import type { Job, JobCheckpoint, ProgressPoint } from '../../api/types';
import { CodeBoundary, part } from '../../components/CodeBoundary';
import { Panel } from '../../components/Panel';
import { SaveChart } from '../../components/SaveChart';
import { Await, Empty, Failure, Loading } from '../../components/states';
import { Table } from '../../components/Table';
import { formatCount, formatDuration, formatPast } from '../../lib/format';
import { useNow } from '../../lib/useNow';

const Chart = part(async () => ({ default: (await import('../../components/Chart')).Chart }));
const shownMax = 8;

// How far the program has come, and from where it could go on.
export function CheckpointCard({ job }: { job: Job }) {
  const id = String(job.id);
  const now = useNow();
  const checkpoints = useCheckpoints(id);
  const progress = useProgress(id);
  const points = progress.data ?? [];
  return (
    <Panel title="Progress and checkpoints" aside={<>{job.progress_step !== null && `at step ${formatCount(job.progress_step)}`} {points.length > 1 && <SaveProgress id={id} points={points} />}</>}>
      {points.length > 1 && <Progress points={points} />}
      {progress.error && !progress.data && <Failure error={progress.error} />}
      <Await answer={checkpoints}>{(list) => <Checkpoints list={list} now={now} />}</Await>
    </Panel>
  );
}

function Checkpoints({ list, now }: { list: readonly JobCheckpoint[]; now: number }) {
  if (list.length === 0) {
    return (
      <Empty title="No checkpoint reported">
        <span>hai.report_checkpoint() tells hai where the job can go on from.</span>
      </Empty>
    );
  }
  return (
    <>
      <Table label="checkpoints">
        <thead>
          <tr>
            <th className="num">step</th>
            <th>saved</th>
            <th className="num">took</th>
            <th>path</th>
          </tr>
        </thead>
        <tbody>
          {list.slice(0, shownMax).map((each) => (
            <tr key={`${each.attempt}/${each.step}/${each.at}`}>
              <td className="num">{formatCount(each.step)}</td>
              <td className="now">{formatPast(each.at, now)}</td>
              <td className="num">{formatDuration(each.save_seconds)}</td>
              <td className="mono path" title={each.path}>
                <bdi>{each.path}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {list.length > shownMax && <p className="dim">and {list.length - shownMax} before</p>}
    </>
  );
}

function SaveProgress({ id, points }: { id: string; points: readonly ProgressPoint[] }) {
  const times = points.map((point) => Date.parse(point.at));
  const lines = [{ label: 'step', color: '--gpu-used', values: points.map((point) => point.step) }];
  return <SaveChart name={`job-${id}-progress`} title="progress" csv={({ csvOf }) => csvOf(times, lines)} svg={({ linesSvg }) => linesSvg({ title: `Progress of job ${id}`, times, lines })} />;
}

function Progress({ points }: { points: readonly ProgressPoint[] }) {
  const plot = useMemo(
    () => ({
      times: points.map((point) => Date.parse(point.at) / 1000),
      series: [{ label: 'step', color: '--gpu-used', values: points.map((point) => point.step) }],
    }),
    [points],
  );
  return (
    <CodeBoundary>
      <Suspense fallback={<Loading height="9.2rem" />}>
        <Chart label="progress over time" times={plot.times} series={plot.series} />
      </Suspense>
    </CodeBoundary>
  );
}
