import { useMemo } from 'react';
import { useEventLog } from '../../api/eventLog';
import { toneOf } from '../../components/Badge';
import { BarList } from '../../components/BarList';
import { Panel } from '../../components/Panel';
import { Await, Empty } from '../../components/states';
import { formatCount, formatGpuHours, formatTime } from '../../lib/format';
import { countLosses } from '../../lib/losses';
import { useNow } from '../../lib/useNow';

const interruptions = ['attempt_suspending', 'attempt_ended'];
const titles: Record<string, string> = {
  suspended: 'suspended, to go on later',
  lost: 'lost with their node, run again',
  failed: 'failed',
  stopped: 'stopped by people',
};

// As far back as the loaded events reach, which the panel says.
export function Interruptions() {
  const { events, error, isPending } = useEventLog(interruptions, 1);
  const now = useNow(10_000);
  const losses = useMemo(() => countLosses(events ?? []), [events]);
  const aside = losses && `since ${formatTime(new Date(losses.since * 1000).toISOString(), now)}`;
  return (
    <Panel title="Suspensions and lost work" aside={aside}>
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
