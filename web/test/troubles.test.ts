import { describe, expect, it } from 'vitest';
import type { Incident, Node } from '../src/api/types';
import { type Facts, missingNodes, troublesOf, usersOf } from '../src/lib/troubles';
import { at, event, node, t0 } from './builders';

const incident = (part: Partial<Incident>): Incident => ({
  id: 1, kind: 'mass_loss', subject: 'cluster', summary: 'x', opened_at: at(0), closed_at: null, close_reason: null, nodes: [], notes: [], ...part,
});
const facts = (part: Partial<Facts>): Facts => ({ incidents: [], aside: [], livenessEvents: [], staleSince: null, waiting: 0, now: t0 + 60_000, ...part });
const repair = (step: NonNullable<Node['repair']>['step'], reason: string): Partial<Node> => ({
  scheduling: 'drained', reason_by: 'health', repair: { step, reason, since: at(5), round: 0, job: null, incident: null },
});

it('finds nothing wrong with what people have closed', () => {
  expect(troublesOf(facts({ aside: [node({ scheduling: 'drained', reason: 'new fan', reason_by: 'ann' })] }))).toEqual([]);
});

it('tells of an incident with the jobs and GPUs of its nodes, and of each node once', () => {
  const aside = [node({ name: 'n1', liveness: 'suspect', jobs: [7, 8] }), node({ name: 'n2', liveness: 'suspect', jobs: [8] })];
  const found = troublesOf(facts({ incidents: [incident({ nodes: ['n1', 'n2'] })], aside }));
  expect(found).toMatchObject([{ what: 'mass loss: x', since: t0, jobs: [7, 8], gpus: 16, person: expect.stringContaining('hai fence') as string }]);
});

it('asks nobody to fence all that is silent, and shortens to whole clauses', () => {
  const nodes = ['n2', 'n3', 'n4'];
  const aside = nodes.map((name) => node({ name, liveness: 'suspect' }));
  const summary = `${'3 nodes of leaf-1 fell silent together, which looks like the network; no job moves. '}What may still run is not started a second time until the nodes return, have surely ended or are fenced`;
  const [found] = troublesOf(facts({ incidents: [incident({ nodes, summary })], aside }));
  expect(found!.person).toMatch(/hai fence NODE$/); // one that is known to be off
  expect(found!.what).toMatch(/no job moves…$/); // at the end of a clause
});

it('names nodes that are repaired as a shell takes them', () => {
  const aside = [node({ name: 'n1', ...repair('service', 'a lemon') }), node({ name: 'n2', ...repair('service', 'a lemon') })];
  expect(troublesOf(facts({ aside }))[0]!.person).toBe("Repair it, then: hai undrain 'n[1-2]'");
});

it('does not say that jobs stay where they surely ended', () => {
  const both = [node({ name: 'n1', liveness: 'down' }), node({ name: 'n2', liveness: 'suspect', jobs: [8] })];
  const of = (aside: Node[]) => troublesOf(facts({ incidents: [incident({ nodes: ['n1', 'n2'] })], aside }))[0]!;
  expect(of(both)).toMatchObject({ itself: expect.stringMatching(/^Runs the jobs of 1 elsewhere/) as string, person: expect.stringContaining('hai fence') as string, more: expect.any(String) as string });
  const gone = of(both.map((each) => ({ ...each, liveness: 'down' })));
  expect(gone).toMatchObject({ itself: expect.stringMatching(/^Runs their jobs elsewhere/) as string, person: expect.stringContaining('hai node remove') as string });
  expect(gone.more).toBeUndefined();
  expect(of(both.map((each) => ({ ...each, liveness: 'suspect' }))).itself).toContain('moves no job');
});

it('knows since when single nodes are silent, or says that it does not', () => {
  const told = event('node_liveness_changed', 'node/n1', 20, { liveness: 'suspect', reason: 'silent for 10s' });
  const n1 = node({ name: 'n1', liveness: 'suspect', reason: 'silent for 10s', jobs: [3] });
  expect(troublesOf(facts({ aside: [n1], livenessEvents: [told] }))).toMatchObject([{ what: 'n1 is silent', since: t0 + 10_000, jobs: [3], person: '' }]);
  const n2 = node({ name: 'n2', liveness: 'down', reason: 'silent for 1m' });
  expect(troublesOf(facts({ aside: [n1, n2], livenessEvents: [told] }))).toMatchObject([{ what: 'n[1-2] are silent', since: null, person: expect.stringContaining('Repair') as string }]);
});

it('asks for a person only where a repair has come to its end, and for that first', () => {
  const aside = [node({ name: 'n1', jobs: [1, 2], ...repair('emptying', 'Xid 48') }), node({ name: 'n2', ...repair('service', 'a lemon') })];
  expect(troublesOf(facts({ aside })).map(({ what, person }) => [what, person])).toEqual([['n2: a lemon', 'Repair it, then: hai undrain n2'], ['n1: Xid 48', '']]);
});

it('says what is done about a fault by the step that its node is at', () => {
  const about = (n1: Node) => troublesOf(facts({ incidents: [incident({ kind: 'node_fault', nodes: ['n1'] })], aside: [n1] }))[0]!;
  expect(about(node({ ...repair('validating', 'x') }))).toMatchObject({ itself: 'Tests the node', person: '' });
  expect(about(node({ ...repair('service', 'x') })).person).toBe('Repair it, then: hai undrain n1');
});

it('says of a database that is away whom it keeps waiting', () => {
  expect(troublesOf(facts({ staleSince: t0, waiting: 3 }))).toMatchObject([{ since: t0, blocks: '3 jobs cannot start', person: 'Bring PostgreSQL back' }]);
});

it('names no user as long as it does not know them all', () => {
  expect(usersOf([1, 2, 3], new Map([[1, 'ben'], [2, 'ann'], [3, 'ben']]))).toEqual(['ann', 'ben']);
  expect(usersOf([1, 2], new Map([[1, 'ben']]))).toBeNull();
  expect(usersOf([1], undefined)).toBeNull();
});

it('does not say that nobody is hurt as long as it does not know the nodes', () => {
  const incidents = [incident({ kind: 'mass_fault', nodes: ['n1', 'n2'] }), incident({ id: 2, kind: 'hang', subject: 'job/5', nodes: ['n9'] })];
  const aside = [node({ name: 'n1', liveness: 'suspect', jobs: [7] })];
  expect(missingNodes(incidents, aside)).toEqual(['n2']);
  expect(troublesOf(facts({ incidents, aside }))[0]).toMatchObject({ jobs: [7], isWholeLoss: false });
  expect(troublesOf(facts({ incidents, aside, others: [node({ name: 'n2', jobs: [8] })] }))[0]).toMatchObject({ jobs: [7, 8], isWholeLoss: true });
});

describe('a storm of launches that fail', () => {
  const failure = (i: number, seconds: number, node: string, suffix = '') =>
    event(suffix === '' ? 'job_requeued' : 'job_finished', `job/${i}`, seconds, { reason: `rank 0 on ${node} could not start: no image team/x:1${suffix}` });

  it('is a trouble with its cause, and names the node if it is one', () => {
    const failures = Array.from({ length: 30 }, (_, i) => failure(i % 15, 50 - i, 'n7', i % 2 === 0 ? '' : ' (could not start 3 times)'));
    expect(troublesOf(facts({ failures }))).toMatchObject([{
      what: '15 jobs could not start on n7: no image team/x:1', since: t0 + 21_000, blocks: '15 jobs could not start', person: expect.stringContaining('hai drain n7') as string,
    }]);
    expect(troublesOf(facts({ failures: failures.map((_, i) => failure(i, 50 - i, `n${i % 5}`)) }))[0]!.what).toBe('30 jobs could not start on 5 nodes: no image team/x:1');
  });

  it('is none of a few, of programs that fail, or of what is over', () => {
    const few = Array.from({ length: 9 }, (_, i) => failure(i, 50 - i, 'n7'));
    const programs = Array.from({ length: 500 }, (_, i) => event('job_finished', `job/${i}`, 50, { state: 'failed', reason: 'rank 0 on n7 exited with code 1' }));
    const old = Array.from({ length: 99 }, (_, i) => failure(i, -601, 'n7'));
    expect(troublesOf(facts({ failures: [...few, ...programs, ...old] }))).toEqual([]);
  });

  it('does not say since when it goes on where the events do not reach back so far', () => {
    const failures = Array.from({ length: 1_000 }, (_, i) => failure(i, 50 - i / 100, 'n7'));
    expect(troublesOf(facts({ failures }))).toMatchObject([{ since: null, what: expect.stringContaining('at least 1,000 jobs') as string }]);
  });
});
