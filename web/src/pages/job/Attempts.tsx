import { Link } from 'wouter';
import type { Attempt } from '../../api/types';
import { Badge } from '../../components/Badge';
import { Hosts } from '../../components/Hosts';
import { Panel } from '../../components/Panel';
import { Empty } from '../../components/states';
import { Table } from '../../components/Table';
import { formatDuration, formatEnd, formatHosts, formatPlural, formatTime, secondsBetween } from '../../lib/format';
import { useNow } from '../../lib/useNow';

export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  const now = useNow();
  if (attempts.length === 0) return null;
  return (
    <Table label="attempts" className="cards">
      <thead>
        <tr>
          <th className="num">attempt</th>
          <th>state</th>
          <th>from</th>
          <th className="num">ran</th>
          <th>nodes</th>
          <th>why it ended</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt) => (
          <tr key={attempt.attempt}>
            <td className="num" data-label="attempt">{attempt.attempt}</td>
            <td>
              <Badge word={attempt.state} />
            </td>
            <td className="now" data-label="from">{formatTime(attempt.placed_at, now)}</td>
            <td className="num" data-label="ran">{attempt.running_at ? formatDuration(secondsBetween(attempt.running_at, attempt.ended_at ?? now)) : '–'}</td>
            <td className="mono"><Hosts names={attempt.ranks.map((rank) => rank.node)} /></td>
            <td className="text">
              <bdi>{formatEnd(attempt.end_reason, attempt.exit_code)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

const ranksShown = 200;

export function Ranks({ wanted, attempt, onLog }: { wanted: number; attempt: Attempt | undefined; onLog: (rank: number) => void }) {
  return (
    <Panel title="Ranks" aside={attempt && `attempt ${attempt.attempt}, ${formatPlural(attempt.ranks.length, 'rank')}`}>
      {!attempt ? (
        <Empty title={`It has no attempt ${wanted}`} />
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="ranks">
          <table className="plain cards">
            <thead>
              <tr>
                <th className="num">rank</th>
                <th>node</th>
                <th>GPUs</th>
                <th>phase</th>
                <th>end</th>
                <th>
                  <span className="sr">log</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {attempt.ranks.slice(0, ranksShown).map((rank) => (
                <tr key={rank.rank}>
                  <td className="num" data-label="rank">{rank.rank}</td>
                  <td className="whole">
                    <Link href={`/nodes/${encodeURIComponent(rank.node)}`}>{rank.node}</Link>
                  </td>
                  <td className="mono" data-label="GPUs">{formatHosts(rank.gpus.map((gpu) => `${gpu}`)).replace(/[[\]]/g, '')}</td>
                  <td>{rank.phase || 'not launched'}</td>
                  <td className="text">
                    {[rank.cause, rank.exit_code === null ? '' : `exit code ${rank.exit_code}`, rank.message].filter(Boolean).join(', ')}
                  </td>
                  <td className="num act">
                    <button className="button quiet small" onClick={() => onLog(rank.rank)}>
                      log
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {attempt.ranks.length > ranksShown && <p className="dim">and {attempt.ranks.length - ranksShown} more</p>}
        </div>
      )}
    </Panel>
  );
}
