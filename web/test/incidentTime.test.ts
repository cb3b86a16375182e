import { expect, it } from 'vitest';
import type { Incident, NodeStay } from '../src/api/types';
import { eventsWithin, historyAddress, spanOfIncident, staysWithin } from '../src/lib/incidentTime';
import { at, event, t0 } from './builders';

const incident: Incident = { id: 1, kind: 'node_fault', subject: 'node/n1', summary: '', opened_at: at(3_600), closed_at: at(7_200), close_reason: '', nodes: [], notes: [] };
const span = spanOfIncident(incident, t0);
const stay = (part: Partial<NodeStay>): NodeStay => ({ id: 1, name: 'j', user: 'ann', attempt: 1, rank: 0, state: 'succeeded', placed_at: at(0), ended_at: at(9_000), end_reason: null, ...part });

it('looks ten minutes back from when it opened, and on to its end or to now', () => {
  expect(span).toEqual({ from: t0 + 3_000_000, until: t0 + 7_200_000 });
  expect(spanOfIncident({ ...incident, closed_at: null }, t0 + 5).until).toBe(t0 + 5);
});

it('takes the jobs that were there then, once each, those first that lost their attempt', () => {
  const stays = [
    stay({ id: 1, ended_at: at(2_999) }), stay({ id: 2, placed_at: at(7_201) }), stay({ id: 3, ended_at: null, state: 'running' }),
    stay({ id: 4, attempt: 2, placed_at: at(5_000) }), stay({ id: 4, attempt: 1, state: 'lost', end_reason: 'n1 was lost', ended_at: at(3_700) }),
  ];
  expect(staysWithin(stays, span)).toEqual([
    { id: 4, user: 'ann', state: 'lost', reason: 'n1 was lost' }, { id: 3, user: 'ann', state: 'running', reason: '' },
  ]);
});

it('takes what was said then, the newest first', () => {
  const said = [10, 3_100, 3_700, 7_300].map((seconds) => event('node_check_changed', 'node/n1', seconds));
  expect(eventsWithin(said, span)).toEqual([said[2], said[1]]);
});

it('leads to the whole hours around it', () => {
  expect(historyAddress(incident, t0)).toBe('/history?since=2026-11-20T12%3A00%3A00Z&until=2026-11-20T15%3A00%3A00Z&step=1h');
});
