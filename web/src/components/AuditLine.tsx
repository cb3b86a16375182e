import { useAudit, useWhoAmI } from '../api/queries';
import { formatTime } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Panel } from './Panel';
import { Await, Empty } from './states';
import { Table } from './Table';

// The newest entries of the audit log about these calls; admins may read it.
export function AuditLines({ call, title }: { call: string; title: string }) {
  const isAdmin = useWhoAmI().data?.role === 'admin';
  const audit = useAudit(call, isAdmin);
  const now = useNow(10_000);
  if (!isAdmin) return null;
  return (
    <Panel title={title} aside="from the audit log">
      <Await answer={audit}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title="None so far" />
          ) : (
            <Table label={title}>
              <thead>
                <tr>
                  <th className="num">entry</th>
                  <th>when</th>
                  <th>who</th>
                  <th>of</th>
                  <th>result</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.seq}>
                    <td className="num">{entry.seq}</td>
                    <td className="now">{formatTime(entry.at, now)}</td>
                    <td>{entry.user || 'nobody known'}</td>
                    <td className="mono"><bdi>{entry.target}</bdi></td>
                    <td className={entry.result === 'ok' ? 'dim' : 'text'}>
                      <bdi>{entry.result === 'ok' ? entry.text || 'ok' : `${entry.result}: ${entry.text}`}</bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </Table>
          )
        }
      </Await>
    </Panel>
  );
}
