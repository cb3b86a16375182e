import { Suspense, useMemo } from 'react';
import { useCheckpoints, useProgress } from '../../api/queries';
import type { Job, ProgressPoint } from '../../api/types';
import { CodeBoundary, part } from '../../components/CodeBoundary';
import { Panel } from '../../components/Panel';
import { SaveCsv } from '../../components/SaveCsv';
import { Empty, Loading } from '../../components/states';
import { Table } from '../../components/Table';
import { formatAgo, formatCount, formatDuration } from '../../lib/format';
import { useNow } from '../../lib/useNow';

const Chart = part(async () => ({ default: (await import('../../components/Chart')).Chart }));
const shownMax = 8;

// How far the program has come, and from where it could go on.
export function CheckpointCard({ job }: { job: Job }) {
  const id = String(job.id);
  const now = useNow();
  const checkpoints = useCheckpoints(id).data ?? [];
  const points = useProgress(id).data ?? [];
  return (
    <Panel title="Progress and checkpoints" aside={<>{job.progress_step !== null && `at step ${formatCount(job.progress_step)}`} {points.length > 1 && <SaveCsv name={`job-${id}-progress`} title="progress" times={points.map((point) => Date.parse(point.at))} columns={[{ label: 'step', values: points.map((point) => point.step) }]} />}</>}>
      {points.length > 1 && <Progress points={points} />}
      {checkpoints.length === 0 ? (
        <Empty title="No checkpoint reported">
          <span>hai.report_checkpoint() tells hai where the job can go on from.</span>
        </Empty>
      ) : (
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
            {checkpoints.slice(0, shownMax).map((each) => (
              <tr key={`${each.attempt}/${each.step}/${each.at}`}>
                <td className="num">{formatCount(each.step)}</td>
                <td className="now">{formatAgo(each.at, now)}</td>
                <td className="num">{formatDuration(each.save_seconds)}</td>
                <td className="mono path" title={each.path}>
                  <bdi>{each.path}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {checkpoints.length > shownMax && <p className="dim">and {checkpoints.length - shownMax} before</p>}
    </Panel>
  );
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
