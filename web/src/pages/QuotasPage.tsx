import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useQuotas, useUsers, useWhoAmI } from '../api/queries';
import type { Quota, User } from '../api/types';
import { AuditLines } from '../components/AuditLine';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { Table } from '../components/Table';
import { formatCount, formatWord } from '../lib/format';
import { useTitle } from '../lib/useTitle';
import { EditQuota } from './quotas/EditQuota';
import { EditUser } from './quotas/EditUser';

export default function QuotasPage() {
  useTitle('Users and quotas');
  const quotas = useQuotas();
  const users = useUsers();
  const me = useWhoAmI().data;
  const [edited, setEdited] = useState<Quota | null>(null);
  const [editedUser, setEditedUser] = useState<User | null>(null);
  const [text, setText] = useState('');
  const isAdmin = me?.role === 'admin';
  return (
    <>
      <div className="page-head">
        <h1>Users and quotas</h1>
        <input className="input" style={{ width: '14rem' }} data-search placeholder="Filter owner, group" aria-label="filter quotas" value={text} onChange={(event) => setText(event.target.value)} />
        <span className="grow" />
        {isAdmin && (
          <button className="button" onClick={() => setEdited({ owner: '', group: '*', priority: 'normal', nodes: 8, nodes_used: 0 })}>
            New quota
          </button>
        )}
        {isAdmin && (
          <button className="button" onClick={() => setEditedUser({ name: '', role: 'user', groups: [], active: true })}>
            New user
          </button>
        )}
      </div>
      <div className="job-page">
        <div className="stack">
          <Panel title="Quotas" aside="nodes at once; own row, else the best of one's groups, else public">
          <Await answer={quotas} lines={8}>
            {(list) => <QuotaTable quotas={list} text={text} onEdit={isAdmin ? setEdited : null} />}
          </Await>
        </Panel>
          <AuditLines about={{ call: 'SetQuota' }} title="Changes of quotas" />
          <AuditLines about={{ call: 'SetUser' }} title="Changes of users" />
        </div>
        <div className="stack">
          {me && <Mine quotas={me.quotas} user={me.user} />}
          <Panel title="Users" aside={users.data && formatCount(users.data.length)}>
            <Await answer={users}>{(list) => <Users users={list} onEdit={isAdmin ? setEditedUser : null} />}</Await>
          </Panel>
        </div>
      </div>
      {edited && <EditQuota quota={edited} onClose={() => setEdited(null)} />}
      {editedUser && <EditUser user={editedUser} onClose={() => setEditedUser(null)} />}
    </>
  );
}

function Usage({ quota }: { quota: Quota }) {
  if (quota.nodes === null) return null;
  const part = quota.nodes === 0 ? 0 : (100 * quota.nodes_used) / quota.nodes;
  const tone = part >= 100 ? 'var(--suspended)' : 'var(--gpu-used)';
  return (
    <span
      role="img"
      aria-label={`${quota.nodes_used} of ${quota.nodes} used`}
      style={{ display: 'block', minWidth: '9rem', height: 6, borderRadius: 3, background: `linear-gradient(to right, ${tone} ${Math.min(100, part)}%, var(--sunken) 0)` }}
    />
  );
}

function QuotaTable({ quotas, text, onEdit }: { quotas: readonly Quota[]; text: string; onEdit: ((quota: Quota) => void) | null }) {
  const shown = useMemo(() => quotas.filter((quota) => `${quota.owner} ${quota.group} ${quota.priority}`.includes(text.trim())), [quotas, text]);
  if (shown.length === 0) return <Empty title="No quota matches" />;
  return (
    <Table label="quotas" className="middle cards">
      <thead>
        <tr>
          <th>owner</th>
          <th>group</th>
          <th>priority</th>
          <th className="num">used</th>
          <th className="num">nodes</th>
          <th>
            <span className="sr">part used</span>
          </th>
          <th>
            <span className="sr">change</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((quota) => (
          <tr key={`${quota.owner}/${quota.group}/${quota.priority}`}>
            <td>{quota.owner === 'public' ? <b>public</b> : <Link href={`/jobs?user=${encodeURIComponent(quota.owner)}`}>{quota.owner}</Link>}</td>
            <td>{quota.group === '*' ? <span className="dim">every group</span> : quota.group}</td>
            <td>{quota.priority === '*' ? <span className="dim">every level</span> : formatWord(quota.priority)}</td>
            <td className="num" data-label="used">{formatCount(quota.nodes_used)}</td>
            <td className="num" data-label="of">{quota.nodes === null ? <span className="dim">no limit</span> : formatCount(quota.nodes)}</td>
            <td className="part">
              <Usage quota={quota} />
            </td>
            <td className="num act">
              {onEdit && (
                <button className="button quiet small" aria-label={`change quota of ${quota.owner} in ${quota.priority}`} onClick={() => onEdit(quota)}>
                  change
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Mine({ quotas, user }: { quotas: readonly Quota[]; user: string }) {
  if (quotas.length === 0) return null;
  return (
    <Panel title="In force for you" aside={user}>
      <Table label="quotas of yours">
        <tbody>
          {quotas.map((quota) => (
            <tr key={`${quota.group}/${quota.priority}`}>
              <td>{quota.group}</td>
              <td>{formatWord(quota.priority)}</td>
              <td className="num">
                {formatCount(quota.nodes_used)} of {quota.nodes === null ? 'any' : formatCount(quota.nodes)}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Panel>
  );
}

function Users({ users, onEdit }: { users: readonly User[]; onEdit: ((user: User) => void) | null }) {
  return (
    <Table label="users">
      <tbody>
        {users.map((user) => (
          <tr key={user.name}>
            <td>
              <Link href={`/jobs?state=all&user=${encodeURIComponent(user.name)}`}>{user.name}</Link>
            </td>
            <td className="dim">
              {user.role}
              {!user.active && ', inactive'}
            </td>
            <td>
              {user.groups.map((group) => (
                <span key={group} className="tag">
                  {group}
                </span>
              ))}
            </td>
            <td className="num">
              {onEdit && (
                <button className="button quiet small" aria-label={`change ${user.name}`} onClick={() => onEdit(user)}>
                  change
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
