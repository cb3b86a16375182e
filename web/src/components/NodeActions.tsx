import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { controlNodes, whatIfDrain } from '../api/actions';
import { useWhoAmI } from '../api/queries';
import type { Node, NodeVerb, WhatIf } from '../api/types';
import { formatHosts, toLocalInput } from '../lib/format';
import { fromInput } from '../lib/zone';
import { Dialog } from './Dialog';
import { Differences } from './Differences';
import { toast } from './Toasts';

const isOut = (node: Node): boolean => node.scheduling === 'draining' || node.scheduling === 'drained';

const verbs: { verb: NodeVerb; title: string; effect: string; fits: (node: Node) => boolean }[] = [
  { verb: 'cordon', title: 'Cordon', effect: 'Nothing new is placed there; what runs goes on.', fits: (node) => node.scheduling === 'open' },
  { verb: 'drain', title: 'Drain', effect: 'Nothing new is placed there, and its jobs save and move away.', fits: (node) => !isOut(node) },
  { verb: 'undrain', title: 'Undrain', effect: 'Jobs may be placed there again.', fits: (node) => node.scheduling !== 'open' },
  { verb: 'validate', title: 'Validate', effect: 'It takes no new jobs until it has been tested and passed.', fits: (node) => node.liveness === 'up' && node.scheduling === 'open' },
  { verb: 'fence', title: 'Fence', effect: 'You vouch that it is off: its jobs run elsewhere at once.', fits: (node) => node.liveness !== 'up' },
];

// For operators; others see the nodes without buttons that would only be refused.
export function NodeActions({ nodes, onDone }: { nodes: readonly Node[]; onDone?: () => void }) {
  const role = useWhoAmI().data?.role;
  const [asked, setAsked] = useState<(typeof verbs)[number] | null>(null);
  if (role !== 'admin' && role !== 'operator') return null;
  return (
    <span className="row wrap" role="group" aria-label="actions">
      {verbs.map((each) => {
        const fitting = nodes.filter(each.fits);
        if (fitting.length === 0) return null;
        return (
          <button key={each.verb} className={each.verb === 'fence' ? 'button danger' : 'button'} onClick={() => setAsked(each)}>
            {each.title}
            {nodes.length > 1 && <span className="dim">{fitting.length}</span>}
          </button>
        );
      })}
      {asked && <Ask verb={asked} nodes={nodes.filter(asked.fits)} onClose={() => setAsked(null)} onDone={onDone} />}
    </span>
  );
}

function useNodeAction(): (title: string, verb: NodeVerb, names: readonly string[], reason: string, deadline: Date | null) => Promise<void> {
  const client = useQueryClient();
  return async (title, verb, names, reason, deadline) => {
    try {
      const results = await controlNodes(names, verb, reason, deadline);
      const done = results.filter((each) => each.code === 'ok').map((each) => each.name);
      const failed = results.filter((each) => each.code !== 'ok').map((each) => `${each.name}: ${each.message}`);
      if (done.length > 0) toast(`${title}: ${formatHosts(done)}`);
      if (failed.length > 0) toast(failed.slice(0, 3).join('\n') + (failed.length > 3 ? ` and ${failed.length - 3} more` : ''), 'failed');
    } catch (error) {
      toast(`${title}: ${(error as Error).message}`, 'failed');
    }
    for (const kind of ['nodes', 'node']) void client.invalidateQueries({ queryKey: [kind] });
  };
}

function Ask({ verb, nodes, onClose, onDone }: { verb: (typeof verbs)[number]; nodes: Node[]; onClose: () => void; onDone?: () => void }) {
  const [reason, setReason] = useState('');
  const [deadline, setDeadline] = useState('');
  const [preview, setPreview] = useState<WhatIf | Error | null>(null);
  const act = useNodeAction();
  const names = nodes.map((node) => node.name);
  const needsReason = verb.verb === 'cordon' || verb.verb === 'drain';
  return (
    <Dialog title={`${verb.title} ${formatHosts(names)}?`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void act(verb.title, verb.verb, names, reason, deadline === '' ? null : fromInput(deadline)).then(onDone);
        }}
      >
        <p className="dim">{verb.effect}</p>
        <label className="field">
          Reason {needsReason && '(shown wherever the node is)'}
          <input className="input" value={reason} required={needsReason} autoFocus onChange={(event) => setReason(event.target.value)} />
        </label>
        {verb.verb === 'drain' && <Deadline value={deadline} onChange={setDeadline} />}
        {preview instanceof Error ? <p className="failure">{preview.message}</p> : preview && <Differences answer={preview} />}
        <footer>
          {verb.verb === 'drain' && (
            <button type="button" className="button quiet" onClick={() => void whatIfDrain(names).then(setPreview, setPreview)}>
              What would happen?
            </button>
          )}
          <span className="grow" />
          <button type="button" className="button quiet" onClick={onClose}>
            Cancel
          </button>
          <button className="button primary">{verb.title}</button>
        </footer>
      </form>
    </Dialog>
  );
}

const minuteMs = 60_000;
const soon: [title: string, minutes: number][] = [['1 h', 60], ['4 h', 240], ['12 h', 720], ['1 d', 1440]];

// In the clock of who looks; the server hears UTC.
function Deadline({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const inMinutes = (minutes: number): string => toLocalInput(new Date(Date.now() + minutes * minuteMs));
  return (
    <div className="field">
      <label htmlFor="deadline">Deadline</label>
      <span className="row wrap">
        <input
          id="deadline"
          className="input"
          style={{ width: '14rem' }}
          type="datetime-local"
          aria-describedby="deadline-means"
          value={value}
          min={inMinutes(1)}
          onChange={(event) => onChange(event.target.value)}
        />
        {soon.map(([title, minutes]) => (
          <button key={title} type="button" className="button small" aria-label={`in ${title}`} onClick={() => onChange(inMinutes(minutes))}>
            {title}
          </button>
        ))}
        {value !== '' && (
          <button type="button" className="button small quiet" onClick={() => onChange('')}>
            none
          </button>
        )}
      </span>
      <span id="deadline-means" className="dim">
        {value === '' ? 'None: its jobs leave now.' : 'Until then its jobs may end by themselves; those that still run leave then.'}
      </span>
    </div>
  );
}
