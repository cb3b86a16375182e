import { useAudit, useWhoAmI } from '../api/queries';
import { formatTime } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Panel } from './Panel';
import { Await, Empty } from './states';
import { Table } from './Table';

interface Props {
  title: string;
  about: { call: string } | { target: string }; // of these calls, or of a job or node: job/17
}

// The newest entries of the audit log; admins may read it.
export function AuditLines({ about, title }: Props) {
  const isAdmin = useWhoAmI().data?.role === 'admin';
  const audit = useAudit(new URLSearchParams({ ...about }).toString(), isAdmin);
  const now = useNow(10_000);
  // Who looks at a page that asks for a job's file has done nothing with it.
  const lines = audit.data?.filter(({ call }) => !/^(Get|List)[A-Z]/.test(call));
  // Of most jobs and nodes there is nothing to tell.
  if (!isAdmin || ('target' in about && !lines?.length && !audit.error)) return null;
  return (
    <Panel title={title} aside="from the audit log">
      <Await answer={{ ...audit, data: lines }}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title="None so far" />
          ) : (
            <Table label={title} className="cards">
              <thead>
                <tr>
                  <th className="num">entry</th>
                  <th>when</th>
                  <th>who</th>
                  <th>{'call' in about ? 'of' : 'what'}</th>
                  <th>result</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.seq}>
                    <td className="num" data-label="entry">{entry.seq}</td>
                    <td className="now">{formatTime(entry.at, now)}</td>
                    <td>{entry.user || 'nobody known'}</td>
                    <td className="mono"><bdi>{'call' in about ? entry.target : entry.call}</bdi></td>
                    <td className={entry.result === 'ok' ? 'text dim' : 'text'}>
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
