import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { setKnob, unsetKnob, whatIfKnob } from '../api/actions';
import { useKnobs, useWhoAmI } from '../api/queries';
import type { Knob, WhatIf } from '../api/types';
import { AuditLines } from '../components/AuditLine';
import { Dialog } from '../components/Dialog';
import { Differences } from '../components/Differences';
import { Panel } from '../components/Panel';
import { Await, Empty, Failure } from '../components/states';
import { Table } from '../components/Table';
import { toast } from '../components/Toasts';
import { formatTime, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';
import { useOnce } from '../lib/useOnce';
import { useTitle } from '../lib/useTitle';

// The numbers that can be turned while the cluster runs: what holds, what the config says, who changed it.
export default function KnobsPage() {
  useTitle('Knobs');
  const knobs = useKnobs();
  const isAdmin = useWhoAmI().data?.role === 'admin';
  const [text, setText] = useState('');
  const [edited, setEdited] = useState<Knob | null>(null);
  return (
    <>
      <div className="page-head">
        <h1>Knobs</h1>
        <input className="input" style={{ width: '14rem' }} data-search placeholder="Filter by name" aria-label="filter knobs" value={text} onChange={(event) => setText(event.target.value)} />
        <span className="dim">{isAdmin ? 'A change holds on all servers at once and after restarts.' : 'Only admins change them.'}</span>
      </div>
      <div className="stack">
        <Panel>
          <Await answer={knobs} lines={12}>
            {(list) => <Knobs knobs={list.filter((knob) => knob.name.includes(text.trim()))} onEdit={isAdmin ? setEdited : null} />}
          </Await>
        </Panel>
        <AuditLines about={{ call: 'SetKnob' }} title="Changes" />
        <AuditLines about={{ call: 'UnsetKnob' }} title="Taken back" />
      </div>
      {edited && <EditKnob knob={edited} onClose={() => setEdited(null)} />}
    </>
  );
}

function Knobs({ knobs, onEdit }: { knobs: readonly Knob[]; onEdit: ((knob: Knob) => void) | null }) {
  const now = useNow(60_000);
  if (knobs.length === 0) return <Empty title="No knob of that name" />;
  return (
    <Table label="knobs" className="middle cards">
      <thead>
        <tr>
          <th>name</th>
          <th>value</th>
          <th>in the config</th>
          <th>legal</th>
          <th>set by</th>
          <th>
            <span className="sr">change</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {knobs.map((knob) => (
          <tr key={knob.name}>
            <td className="mono title">{knob.name}</td>
            <td className="whole" data-label="value">{knob.value === knob.config_value ? knob.value : <b>{knob.value}</b>}</td>
            <td className="dim whole" data-label="in the config">{knob.config_value}</td>
            <td className="dim" data-label="legal">{knob.legal}</td>
            <td className="text">
              {knob.set_by !== '' && (
                <>
                  {knob.set_by}, {formatTime(knob.set_at, now)} <span className="dim"><bdi>{knob.reason}</bdi></span>
                </>
              )}
            </td>
            <td className="num act">
              {!knob.may_change ? (
                <span className="dim">at the start only</span>
              ) : (
                onEdit && (
                  <button className="button quiet small" aria-label={`change ${knob.name}`} onClick={() => onEdit(knob)}>
                    change
                  </button>
                )
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function EditKnob({ knob, onClose }: { knob: Knob; onClose: () => void }) {
  const client = useQueryClient();
  const [value, setValue] = useState(knob.value);
  const [reason, setReason] = useState('');
  const [preview, setPreview] = useState<WhatIf | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const ask = (): void => {
    whatIfKnob(knob.name, value).then(
      (answer) => (setPreview(answer), setError(null)),
      (failure: Error) => (setPreview(null), setError(failure)),
    );
  };
  const { isBusy, once } = useOnce();
  const change = (act: () => Promise<Knob>, done: string): Promise<void> => once(async () => {
    try {
      await act();
      toast(`${formatWord(knob.name)} ${done}`);
      for (const key of ['knobs', 'audit']) void client.invalidateQueries({ queryKey: [key] });
      onClose();
    } catch (failure) {
      setError(failure as Error);
    }
  });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void change(() => setKnob(knob.name, value.trim(), reason), `is ${value.trim()} now`);
  };
  return (
    <Dialog title={knob.name} isOpen onClose={onClose}>
      <form className="stack" onSubmit={save}>
        <div className="form-grid">
          <label className="field w2">
            Value: {knob.legal}
            <input className="input" value={value} required autoFocus onChange={(event) => (setValue(event.target.value), setPreview(null))} />
          </label>
          <label className="field w2">
            Reason (kept with it)
            <input className="input" value={reason} required onChange={(event) => setReason(event.target.value)} />
          </label>
        </div>
        {preview && <Differences answer={preview} />}
        {error && <Failure error={error} />}
        <footer>
          <button type="button" className="button quiet" onClick={ask}>
            What would happen?
          </button>
          {knob.set_by !== '' && (
            <button type="button" className="button" disabled={isBusy} onClick={() => void change(() => unsetKnob(knob.name, reason), 'is as the config has it')}>
              As in the config
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
