import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createToken, setUser, whatIfUser } from '../../api/actions';
import { type Role, roles, type User, type WhatIf } from '../../api/types';
import { Dialog } from '../../components/Dialog';
import { Differences } from '../../components/Differences';
import { Failure } from '../../components/states';
import { toast } from '../../components/Toasts';
import { useOnce } from '../../lib/useOnce';

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((each) => each !== '');

// A person: role, groups, whether he may come in; and a token to come in with, which is shown once.
export function EditUser({ user, onClose }: { user: User; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(user.name);
  const [role, setRole] = useState<Role>(user.role);
  const [groups, setGroups] = useState(user.groups.join(', '));
  const [active, setActive] = useState(user.active);
  const [secret, setSecret] = useState('');
  const [preview, setPreview] = useState<WhatIf | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const isNew = user.name === '';
  const { isBusy, once } = useOnce();
  const change = (act: () => Promise<void>): void => void once(() => act().catch((failure: Error) => setError(failure)));
  const save = (event: FormEvent): void => {
    event.preventDefault();
    change(async () => {
      await setUser(name.trim(), { role, active, groups: listOf(groups) });
      toast(`${name.trim()} saved`);
      for (const key of ['users', 'audit']) void client.invalidateQueries({ queryKey: [key] });
      onClose();
    });
  };
  const ask = (): void => {
    whatIfUser(name.trim(), { role, active, groups: listOf(groups) }).then(
      (answer) => (setPreview(answer), setError(null)),
      (failure: Error) => (setPreview(null), setError(failure)),
    );
  };
  const makeToken = (): void => change(async () => setSecret((await createToken(user.name, 'dashboard')).secret));
  return (
    <Dialog title={isNew ? 'New user' : user.name} isOpen onClose={onClose}>
      <form className="stack" onSubmit={save}>
        <div className="form-grid">
          {isNew && (
            <label className="field w2">
              Name
              <input className="input" value={name} required autoFocus onChange={(event) => setName(event.target.value)} />
            </label>
          )}
          <label className="field">
            Role
            <select className="select" value={role} onChange={(event) => setRole(event.target.value as Role)}>
              {roles.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label className="field w2">
            Groups
            <input className="input" value={groups} placeholder="research, vision" onChange={(event) => setGroups(event.target.value)} />
          </label>
          <label className="row w2" style={{ alignSelf: 'end', height: '2rem' }}>
            <input type="checkbox" checked={active} onChange={(event) => setActive(event.target.checked)} /> may use the cluster
          </label>
        </div>
        {secret !== '' && (
          <p className="note">
            Shown once: <span className="mono" style={{ overflowWrap: 'anywhere' }}>{secret}</span>
          </p>
        )}
        {preview && <Differences answer={preview} />}
        {error && <Failure error={error} />}
        <footer>
          <button type="button" className="button quiet" onClick={ask} disabled={name.trim() === ''}>
            What would happen?
          </button>
          {!isNew && (
            <button type="button" className="button quiet" onClick={makeToken} disabled={isBusy || secret !== ''}>
              New token
            </button>
          )}
          <span className="grow" />
          <button type="button" className="button quiet" onClick={onClose}>
            Cancel
          </button>
          <button className="button primary" disabled={isBusy}>{isBusy ? 'Being done…' : 'Save'}</button>
        </footer>
      </form>
    </Dialog>
  );
}
