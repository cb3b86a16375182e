import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createToken, revokeToken } from '../api/actions';
import { useTokens, useWhoAmI } from '../api/queries';
import type { Token, TokenScope } from '../api/types';
import { AuditLines } from '../components/AuditLine';
import { Dialog } from '../components/Dialog';
import { Panel } from '../components/Panel';
import { Await, Empty, Failure } from '../components/states';
import { Table } from '../components/Table';
import { toast } from '../components/Toasts';
import { formatAgo, formatPast, formatTime } from '../lib/format';
import { useNow } from '../lib/useNow';
import { useOnce } from '../lib/useOnce';
import { useTitle } from '../lib/useTitle';

const scopes: [scope: TokenScope, title: string][] = [
  ['read', 'read only'],
  ['submit', 'read, submit, control own jobs'],
  ['operate', 'that, and nodes (operators)'],
  ['admin', 'everything (admins)'],
];

// What one proves with who one is: made, seen and revoked by oneself.
export default function AccountPage() {
  useTitle('My tokens');
  const tokens = useTokens();
  const me = useWhoAmI().data;
  const [isMaking, setMaking] = useState(false);
  const [asked, setAsked] = useState<Token | null>(null);
  return (
    <>
      <div className="page-head">
        <h1>My tokens</h1>
        <span className="dim">{me && `${me.user}, ${me.role}`}</span>
        <span className="grow" />
        <button className="button primary" onClick={() => setMaking(true)}>
          New token
        </button>
      </div>
      <div className="stack">
        <Panel title="Tokens and sessions" aside="each can be revoked; what it opened ends with it">
          <Await answer={tokens} lines={5}>
            {(list) => <Tokens tokens={list} onRevoke={setAsked} />}
          </Await>
        </Panel>
        <AuditLines about={{ call: 'CreateToken' }} title="Tokens made" />
        <AuditLines about={{ call: 'RevokeToken' }} title="Tokens revoked" />
      </div>
      {isMaking && <Make role={me?.role ?? 'user'} onClose={() => setMaking(false)} />}
      {asked && <Revoke token={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function Tokens({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  const now = useNow(10_000);
  if (tokens.length === 0) return <Empty title="You have no token" />;
  return (
    <Table label="tokens" className="middle cards">
      <thead>
        <tr>
          <th>id</th>
          <th>label</th>
          <th>may</th>
          <th>made</th>
          <th>last used</th>
          <th>ends</th>
          <th>
            <span className="sr">revoke</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => (
          <tr key={token.id}>
            <td className="mono title">{token.id}</td>
            <td className="text"><bdi>{token.label || (token.session ? '' : '–')}</bdi>{token.session && <span className="tag">session</span>}</td>
            <td data-label="may">{token.scope}</td>
            <td className="now" data-label="made">{formatTime(token.created_at, now)}</td>
            <td className="now" data-label="last used">{token.last_used_at === null ? 'never' : formatPast(token.last_used_at, now)}</td>
            <td className="now" data-label="ends">{token.expires_at === null ? 'never' : formatAgo(token.expires_at, now)}</td>
            <td className="num act">
              <button className="button quiet small danger" aria-label={`revoke ${token.label || token.id}`} onClick={() => onRevoke(token)}>
                revoke
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Make({ role, onClose }: { role: string; onClose: () => void }) {
  const client = useQueryClient();
  const [label, setLabel] = useState('');
  const [ttl, setTtl] = useState('90d');
  const [scope, setScope] = useState<TokenScope>('submit');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const { isBusy: isMaking, once } = useOnce(); // a second one would hide the secret of the first
  const allowed = scopes.filter(([each]) => (each !== 'operate' || role !== 'user') && (each !== 'admin' || role === 'admin'));
  const make = async (): Promise<void> => {
    try {
      setSecret((await createToken('', label, { ttl, scope })).secret);
      setError(null);
      void client.invalidateQueries({ queryKey: ['tokens'] });
      void client.invalidateQueries({ queryKey: ['audit'] });
    } catch (failure) {
      setError(failure as Error);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void once(make);
  };
  return (
    <Dialog title="New token" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <div className="form-grid">
          <label className="field w2">
            Label, for you to know it by
            <input className="input" value={label} required autoFocus disabled={secret !== ''} onChange={(event) => setLabel(event.target.value)} />
          </label>
          <label className="field w2">
            Holds for
            <input className="input" value={ttl} required pattern="\d+[smhd]" title="12h, 90d" disabled={secret !== ''} onChange={(event) => setTtl(event.target.value)} />
          </label>
          <label className="field w4">
            It may
            <select className="select" value={scope} disabled={secret !== ''} onChange={(event) => setScope(event.target.value as TokenScope)}>
              {allowed.map(([each, title]) => (
                <option key={each} value={each}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        </div>
        {secret !== '' && (
          <p className="note" role="status">
            Shown once, copy it now: <span className="mono" style={{ overflowWrap: 'anywhere', color: 'var(--ink)' }}>{secret}</span>
          </p>
        )}
        {error && <Failure error={error} />}
        <footer>
          <button type="button" className="button quiet" onClick={onClose}>
            {secret === '' ? 'Cancel' : 'Done'}
          </button>
          {secret === '' && <button className="button primary" disabled={isMaking}>{isMaking ? 'Being made…' : 'Make it'}</button>}
        </footer>
      </form>
    </Dialog>
  );
}

function Revoke({ token, onClose }: { token: Token; onClose: () => void }) {
  const client = useQueryClient();
  const revoke = async (): Promise<void> => {
    onClose();
    try {
      await revokeToken(token.id);
      toast(`Token ${token.id} is revoked`);
    } catch (failure) {
      toast(`Token ${token.id}: ${(failure as Error).message}`, 'failed');
    }
    void client.invalidateQueries({ queryKey: ['tokens'] });
    void client.invalidateQueries({ queryKey: ['audit'] });
  };
  return (
    <Dialog title={`Revoke ${token.label || token.id}?`} isOpen onClose={onClose}>
      <p className="dim">Whatever uses it is refused from then on, and its open streams end. {token.session ? 'It is a session: if it is this one, you are signed out.' : ''}</p>
      <footer>
        <button className="button quiet" onClick={onClose}>
          Cancel
        </button>
        <button className="button danger primary" onClick={() => void revoke()}>
          Revoke
        </button>
      </footer>
    </Dialog>
  );
}
