import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { controlNode, whatIfDrain } from '../api/actions';
import { useWhoAmI } from '../api/queries';
import type { Node, NodeVerb, WhatIf } from '../api/types';
import { formatHosts } from '../lib/format';
import { Dialog } from './Dialog';
import { Differences } from './Differences';
import { toast } from './Toasts';

const verbs: { verb: NodeVerb; title: string; effect: string; fits: (node: Node) => boolean }[] = [
  { verb: 'cordon', title: 'Cordon', effect: 'Nothing new is placed there; what runs goes on.', fits: (node) => node.scheduling === 'open' },
  { verb: 'drain', title: 'Drain', effect: 'Nothing new is placed there, and its jobs save and move away.', fits: (node) => node.scheduling === 'open' || node.scheduling === 'cordoned' },
  { verb: 'undrain', title: 'Undrain', effect: 'Jobs may be placed there again.', fits: (node) => node.scheduling !== 'open' },
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

function Ask({ verb, nodes, onClose, onDone }: { verb: (typeof verbs)[number]; nodes: Node[]; onClose: () => void; onDone?: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [preview, setPreview] = useState<WhatIf | Error | null>(null);
  const names = nodes.map((node) => node.name);
  const act = async (): Promise<void> => {
    onClose();
    for (const name of names) {
      try {
        client.setQueryData(['node', name], await controlNode(name, verb.verb, reason));
      } catch (error) {
        return toast(`${name}: ${(error as Error).message}`, 'failed');
      }
    }
    toast(`${verb.title}: ${formatHosts(names)}`);
    void client.invalidateQueries({ queryKey: ['nodes'] });
    onDone?.();
  };
  const needsReason = verb.verb === 'cordon' || verb.verb === 'drain';
  return (
    <Dialog title={`${verb.title} ${formatHosts(names)}?`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void act();
        }}
      >
        <p className="dim">{verb.effect}</p>
        <label className="field">
          Reason {needsReason && '(shown wherever the node is)'}
          <input className="input" value={reason} required={needsReason} autoFocus onChange={(event) => setReason(event.target.value)} />
        </label>
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
