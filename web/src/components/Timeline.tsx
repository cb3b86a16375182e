import { formatDuration, formatTime } from '../lib/format';
import type { Phase, Segment } from '../lib/timeline';

const tones: Record<Phase, string> = {
  queued: 'var(--queued)',
  suspended: 'var(--suspended)',
  starting: 'var(--held)',
  running: 'var(--gpu-used)',
  suspending: 'var(--gpu-draining)',
  ended: 'var(--stopped)',
};

export function Timeline({ segments, now }: { segments: readonly Segment[]; now: number }) {
  const first = segments[0];
  if (!first) return null;
  const last = segments[segments.length - 1]!;
  const phases = [...new Set(segments.map((segment) => segment.phase))];
  return (
    <div className="stack" style={{ gap: 'var(--s1)' }}>
      <div className="timeline" role="img" aria-label={segments.map((s) => `${s.phase} ${formatDuration((s.to - s.from) / 1000)}`).join(', ')}>
        {segments.map((segment, i) => (
          <i
            key={i}
            data-phase={segment.phase}
            title={`${segment.phase}${segment.attempt ? `, attempt ${segment.attempt}` : ''}: ${formatDuration((segment.to - segment.from) / 1000)}${segment.reason ? `\n${segment.reason}` : ''}`}
            style={{ flexGrow: Math.max(1, segment.to - segment.from), '--tone': tones[segment.phase] } as React.CSSProperties}
          />
        ))}
      </div>
      <div className="row dim" style={{ fontSize: 'var(--text-xs)' }}>
        <span>{formatTime(new Date(first.from).toISOString(), now)}</span>
        <span className="grow legend" style={{ justifyContent: 'center', fontSize: 'var(--text-xs)' }}>
          {phases.map((phase) => (
            <span key={phase}>
              <i style={{ background: tones[phase] }} />
              {phase}
            </span>
          ))}
        </span>
        <span>{last.to >= now - 1000 ? 'now' : formatTime(new Date(last.to).toISOString(), now)}</span>
      </div>
    </div>
  );
}
