import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { removeQuota, setQuota, whatIfQuota } from '../../api/actions';
import { priorities, type Quota, type WhatIf } from '../../api/types';
import { Dialog } from '../../components/Dialog';
import { Differences } from '../../components/Differences';
import { Failure } from '../../components/states';
import { toast } from '../../components/Toasts';
import { formatWord } from '../../lib/format';
import { useOnce } from '../../lib/useOnce';

export function EditQuota({ quota, onClose }: { quota: Quota; onClose: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(quota);
  const [preview, setPreview] = useState<WhatIf | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const isNew = quota.owner === '';
  const set = (part: Partial<Quota>): void => {
    setDraft({ ...draft, ...part });
    setPreview(null);
  };
  const ask = (): void => {
    const { owner, group, priority, nodes } = draft;
    whatIfQuota({ owner, group, priority, nodes }).then(
      (answer) => {
        setPreview(answer);
        setError(null);
      },
      (failure: Error) => setError(failure),
    );
  };
  const { isBusy, once } = useOnce();
  const change = (act: () => Promise<unknown>, done: string): Promise<void> => once(async () => {
    try {
      await act();
      toast(done);
      for (const key of ['quotas', 'audit']) void client.invalidateQueries({ queryKey: [key] });
      onClose();
    } catch (failure) {
      setError(failure as Error);
    }
  });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void change(() => setQuota(draft), `Quota of ${draft.owner} set`);
  };
  const remove = (): void => void change(() => removeQuota(quota), `Quota of ${quota.owner} removed`);
  return (
    <Dialog title={isNew ? 'New quota' : `Quota of ${quota.owner}`} isOpen onClose={onClose}>
      <form className="stack" onSubmit={save}>
        <div className="form-grid">
          <label className="field w2">
            Owner: a user, a user group, or public
            <input className="input" value={draft.owner} disabled={!isNew} required onChange={(event) => set({ owner: event.target.value })} />
          </label>
          <label className="field">
            Group of nodes
            <input className="input" value={draft.group} disabled={!isNew} required onChange={(event) => set({ group: event.target.value })} />
          </label>
          <label className="field">
            Priority
            <select className="select" value={draft.priority} disabled={!isNew} onChange={(event) => set({ priority: event.target.value as Quota['priority'] })}>
              {priorities.filter((each) => each !== 'auto').map((each) => (
                <option key={each} value={each}>{formatWord(each)}</option>
              ))}
            </select>
          </label>
          <label className="field">
            Nodes
            <input className="input" type="number" min={0} disabled={draft.nodes === null} value={draft.nodes ?? ''} onChange={(event) => set({ nodes: Number(event.target.value) })} />
          </label>
          <label className="row w2" style={{ alignSelf: 'end', height: '2rem' }}>
            <input type="checkbox" checked={draft.nodes === null} onChange={(event) => set({ nodes: event.target.checked ? null : 8 })} /> no limit
          </label>
        </div>
        {preview && <Differences answer={preview} />}
        {error && <Failure error={error} />}
        <footer>
          <button type="button" className="button quiet" onClick={ask} disabled={draft.owner === ''}>
            What would happen?
          </button>
          {!isNew && (
            <button type="button" className="button danger" disabled={isBusy} onClick={remove}>
              Remove
            </button>
          )}
          <span className="grow" />
          <button type="button" className="button quiet" onClick={onClose}>
            Cancel
          </button>
          <button className="button primary" disabled={isBusy}>{isBusy ? 'Saving…' : 'Save'}</button>
        </footer>
      </form>
    </Dialog>
  );
}
