import type { ClusterEvent, Incident, Node, RepairStep } from '../api/types';
import { formatCount, formatHosts, formatPlural, formatTime, formatWord } from './format';
import { eventsOfOnePage } from './losses';
import { silentSince } from './silence';

// What is wrong now, as somebody has to hear it who was woken: each with whom it hurts, what hai does
// about it by itself, when that ends, and what is left to a person. Pure.

export interface Trouble {
  key: string;
  incident: number | null; // its id, of a trouble that is one
  what: string;
  href: string;
  since: number | null; // milliseconds since 1970; null = not known
  jobs: number[];
  gpus: number; // that those jobs hold, or that no job can use
  isWholeLoss: boolean; // those are all; else more may be hurt
  blocks: string; // whom it keeps waiting, if anybody
  itself: string; // what hai does about it
  ends: string; // and when that ends
  person: string; // '' = nothing
  more?: string; // of that, where there is room
}

export interface Facts {
  incidents: readonly Incident[];
  aside: readonly Node[]; // not up or not open
  others?: readonly Node[]; // open, and named by an incident; as far as they are known
  livenessEvents: readonly ClusterEvent[];
  failures?: readonly ClusterEvent[]; // of failureKinds, the newest first
  staleSince: number | null; // the server answers, and can decide nothing
  waiting: number; // jobs
  now: number;
}

interface Help {
  itself: string;
  ends: string;
  person: string;
  more?: string;
}

// What is done about each kind of incident, as docs/operations/runbooks.md has it.
const helps: Record<string, Help> = {
  mass_loss: {
    itself: 'Suspects the network and moves no job: what may still run is not started a second time',
    ends: 'when each node is back or was removed, or somebody closes it',
    person: 'Look at the network. A node that you know to be off: hai fence NODE',
    more: 'If you know that a node is off, fence it on its page: its jobs then run elsewhere at once. If it only lost the network, wait: nothing runs twice, and it comes back with its jobs.',
  },
  mass_fault: {
    itself: 'Suspects what these nodes share: they take no new jobs, and those they have go on',
    ends: 'when the fault is over on all of them',
    person: 'Look at what they share: a switch, a file system, a driver',
  },
  hang: {
    itself: 'Ends the job\'s ranks and starts it again elsewhere',
    ends: 'when all its ranks are gone',
    person: '',
  },
  bisection: {
    itself: 'Tests these nodes in groups to find the bad one; they take no jobs meanwhile',
    ends: 'when it is found, or none is',
    person: '',
  },
  store_went_back: {
    itself: 'Starts nothing until each node has reported what it runs',
    ends: 'when every node has reported or is fenced',
    person: 'See that all nodes report. One that can\'t: hai fence NODE',
  },
  name_taken: {
    itself: 'Keeps the agent that was there and refuses the other',
    ends: 'when nobody else asks for the name',
    person: 'Give one of the two agents another name, or stop it',
  },
  agent_not_believed: {
    itself: 'Refuses the agent; its node is silent',
    ends: 'when it says nothing of the kind any more',
    person: 'Stop the agent and look at its machine; it needs a new data directory',
  },
};

// Nodes that are down have surely ended their ranks: what they ran is moved, while others are only silent.
function massLossHelp(nodes: readonly Node[], named: number): Help {
  const down = nodes.filter((node) => node.liveness === 'down').length;
  const { itself, ends, person, ...more } = helps.mass_loss!;
  if (down === 0) return { itself, ends, person, ...more };
  if (down < named) return { itself: `Runs the jobs of ${formatCount(down)} elsewhere, whose ranks have surely ended; of the others it moves none, because they may still run`, ends, person, ...more };
  return { itself: 'Runs their jobs elsewhere, from the last checkpoints: their ranks have surely ended', ends, person: 'Look at the network and at the nodes. What is gone for good: hai node remove NODE' };
}

const steps: Record<RepairStep, Help> = {
  emptying: { itself: 'Lets its jobs save and leave; then it is tested', ends: 'when it is empty and passes', person: '' },
  validating: { itself: 'Tests the node', ends: 'when it passes; else it is repaired', person: '' },
  repairing: { itself: 'Has it repaired by the site\'s hook; then it is tested', ends: 'when it passes', person: '' },
  bisecting: helps.bisection!,
  service: { itself: 'Keeps jobs away', ends: 'never by itself, unless the fault goes', person: 'Repair it, then: hai undrain NODE' },
};

const unknownHelp: Help = { itself: 'Not known to this page', ends: 'when the incident is closed', person: 'Read the incident' };
const noteMax = 140;

const isQuiet = (node: Node): boolean => node.liveness !== 'up';

function hurt(nodes: readonly Node[], isWholeLoss = true): Pick<Trouble, 'jobs' | 'gpus' | 'isWholeLoss'> {
  const jobs = [...new Set(nodes.flatMap((node) => node.jobs))].sort((a, b) => a - b);
  return { jobs, gpus: nodes.reduce((sum, node) => sum + node.gpus, 0), isWholeLoss };
}

// Of which nodes nothing is known yet that incidents name.
export function missingNodes(incidents: readonly Incident[], aside: readonly Node[]): string[] {
  const known = new Set(aside.map((node) => node.name));
  const named = incidents.filter((incident) => !harmless.includes(incident.kind)).flatMap((incident) => incident.nodes);
  return [...new Set(named)].filter((name) => !known.has(name)).sort();
}

export function troublesOf(facts: Facts): Trouble[] {
  const { incidents, aside, staleSince } = facts;
  const named = new Set(incidents.flatMap((incident) => incident.nodes));
  const rest = aside.filter((node) => !named.has(node.name));
  const quiet = rest.filter(isQuiet);
  const repaired = rest.filter((node) => !isQuiet(node) && node.repair !== null);
  const all = [
    ...(staleSince === null ? [] : [frozen(staleSince, facts.waiting)]),
    ...incidents.map((incident) => ofIncident(incident, facts)),
    ...launchStorms(facts),
    ...(quiet.length === 0 ? [] : [silent(quiet, facts)]),
    ...[...new Set(repaired.map((node) => node.repair!.step))].map((step) => inRepair(step, repaired.filter((node) => node.repair!.step === step))),
  ];
  const rank = (each: Trouble): number => (each.person === '' ? 0 : 1e13) + (each.blocks === '' ? 0 : 1e12) + 1e6 * each.jobs.length + each.gpus;
  return all.sort((a, b) => rank(b) - rank(a) || (a.since ?? 0) - (b.since ?? 0));
}

function frozen(since: number, waiting: number): Trouble {
  return {
    key: 'stale', incident: null, what: 'The server can decide nothing: its database does not answer', href: '/', since, jobs: [], gpus: 0, isWholeLoss: true,
    blocks: waiting > 0 ? `${formatPlural(waiting, 'job')} cannot start` : 'nothing new can start',
    itself: 'Asks the database again and again; running jobs go on', ends: 'when it answers', person: 'Bring PostgreSQL back',
  };
}

// Their nodes are named for another reason than that their jobs are hurt.
const harmless = ['hang', 'name_taken'];
// Nothing is decided, or nothing starts.
const severest = ['store_went_back', 'store_unavailable', 'mass_loss'];

// What is done about it, when that ends and what is left to a person, also when it is over.
export const helpOf = (kind: string): { itself: string; ends: string; person: string } => (kind === 'node_fault' ? steps.service : (helps[kind] ?? unknownHelp));

// What asks most of a person first; of those alike the newest first.
export function bySeverity(incidents: readonly Incident[]): Incident[] {
  const rank = (incident: Incident): number => (helpOf(incident.kind).person === '' ? 0 : 1e6) + (severest.includes(incident.kind) ? 1e5 : 0) + (harmless.includes(incident.kind) ? 0 : Math.min(incident.nodes.length, 1e4));
  return [...incidents].sort((a, b) => rank(b) - rank(a) || Date.parse(b.opened_at) - Date.parse(a.opened_at));
}

function ofIncident(incident: Incident, { aside, others = [], now, waiting }: Facts): Trouble {
  const nodes = [...aside, ...others].filter((node) => incident.nodes.includes(node.name));
  const job = /^job\/(\d+)$/.exec(incident.subject)?.[1];
  const single = nodes.length === 1 ? nodes[0]! : null;
  const help = incident.kind === 'mass_loss' ? massLossHelp(nodes, incident.nodes.length)
    : single?.repair && incident.kind === 'node_fault' ? steps[single.repair.step] : incident.kind === 'node_fault' ? faultHelp(single) : (helps[incident.kind] ?? unknownHelp);
  const loss = harmless.includes(incident.kind) ? { jobs: job === undefined ? [] : [Number(job)], gpus: 0, isWholeLoss: true } : hurt(nodes, nodes.length === incident.nodes.length);
  const drain = single?.drain_at ? `, and at ${formatTime(single.drain_at, now)} its jobs leave` : '';
  return {
    key: `incident ${incident.id}`,
    incident: incident.id,
    what: shorten(`${formatWord(incident.kind)}: ${incident.summary}`),
    href: `/incidents?id=${incident.id}`,
    since: Date.parse(incident.opened_at),
    ...loss,
    blocks: incident.kind === 'store_went_back' && waiting > 0 ? `${formatPlural(waiting, 'job')} cannot start` : '',
    ...help,
    ends: help.ends + drain,
    // Never all of them: of which nodes it is known that they are off, or gone, only a person can tell.
    person: help.person.replace('NODE', single?.name ?? 'NODE'),
  };
}

// As the command line takes it: a list of hosts would be a pattern to the shell.
function argumentOf(nodes: readonly Node[]): string {
  const hosts = formatHosts(nodes.map((node) => node.name));
  return nodes.length === 0 ? 'NODE' : /^[\w.-]+$/.test(hosts) ? hosts : `'${hosts}'`;
}

// Not in repair: people have taken it out, or it came back.
const faultHelp = (node: Node | null): Help => ({
  itself: node === null || node.scheduling === 'open' ? 'Watches it' : `Leaves it ${node.scheduling}, as ${node.reason_by ?? 'somebody'} wants it`,
  ends: 'when the incident is closed',
  person: node === null || node.scheduling === 'open' ? '' : 'Decide about the node: hai undrain NODE opens it',
});

function silent(nodes: readonly Node[], { livenessEvents }: Facts): Trouble {
  const suspects = nodes.filter((node) => node.liveness === 'suspect');
  const times = nodes.map((node) => silentSince(node, livenessEvents.filter((event) => event.subject === `node/${node.name}`)));
  const known = times.filter((each) => each !== null);
  return {
    key: 'silent',
    incident: null,
    what: shorten(`${hostsOf(nodes)} ${nodes.length === 1 ? 'is' : 'are'} silent`),
    href: '/nodes?liveness=not_up',
    // The oldest is not the oldest if one is not known.
    since: known.length === nodes.length ? Math.min(...known) : null,
    ...hurt(nodes),
    blocks: '',
    itself: suspects.length > 0 ? 'Waits for a sign of life; when its ranks have surely ended, its jobs run elsewhere' : 'Runs their jobs elsewhere, from the last checkpoints',
    ends: suspects.length > 0 ? 'when it reports, or is down' : nodes.length === 1 ? 'when it reports' : 'when each of them reports',
    person: suspects.length < nodes.length ? 'Repair what is down; it joins again by itself' : '',
  };
}

const stormMs = 10 * 60_000;
const stormJobs = 10;
const launchReason = /^rank \d+ on (\S+) could not start: (.*?)(?: \(could not start \d+ times\))?$/s;

// Jobs that can't be started, for one cause: an image, a workspace, a node. What hai does about each of them
// ends by itself, and what causes it may not.
function launchStorms({ failures = [], now }: Facts): Trouble[] {
  const storms = new Map<string, { subjects: Set<string>; nodes: Set<string>; since: number }>();
  for (const { time, subject, body } of failures) {
    const at = Date.parse(time);
    const [, node, cause] = launchReason.exec(String(body.reason ?? '')) ?? [];
    if (now - at > stormMs || node === undefined || cause === undefined) continue;
    const storm = storms.get(cause) ?? { subjects: new Set(), nodes: new Set(), since: at };
    storms.set(cause, storm);
    storm.subjects.add(subject);
    storm.nodes.add(node);
    storm.since = Math.min(storm.since, at);
  }
  // How long it has gone on is not known where the events are used up within the time looked at.
  const isCut = failures.length >= eventsOfOnePage && now - Date.parse(failures.at(-1)!.time) <= stormMs;
  return [...storms].filter(([, { subjects }]) => subjects.size >= stormJobs).map(([cause, { subjects, nodes, since }]): Trouble => ({
    key: `launches ${cause}`,
    incident: null,
    what: shorten(`${isCut ? 'at least ' : ''}${formatPlural(subjects.size, 'job')} could not start on ${nodes.size === 1 ? [...nodes][0]! : formatPlural(nodes.size, 'node')}: ${cause}`),
    href: '/#lately',
    since: isCut ? null : since,
    jobs: [],
    gpus: 0,
    isWholeLoss: true,
    blocks: `${formatPlural(subjects.size, 'job')} could not start`,
    itself: 'Tries each job on other nodes, three times at most; takes out a node at which jobs of several people can\'t start',
    ends: 'when none has failed so for 10 minutes',
    person: nodes.size === 1 ? `Look at the node; without it the jobs go on: hai drain ${[...nodes][0]!}` : 'Look at what the cause names: an image, a workspace, a file system',
  }));
}

function inRepair(step: RepairStep, nodes: readonly Node[]): Trouble {
  const help = steps[step];
  const reasons = [...new Set(nodes.map((node) => node.repair!.reason))];
  return {
    key: `repair ${step}`,
    incident: null,
    what: shorten(`${hostsOf(nodes)}: ${reasons[0]}${reasons.length > 1 ? ', and more' : ''}`),
    href: '/nodes?scheduling=closed',
    since: Math.min(...nodes.map((node) => Date.parse(node.repair!.since))),
    ...hurt(nodes),
    blocks: '',
    ...help,
    person: help.person.replace('NODE', argumentOf(nodes)),
  };
}

// All of them, or how many where that is too long to read.
function hostsOf(nodes: readonly Node[]): string {
  const hosts = formatHosts(nodes.map((node) => node.name));
  return hosts.length > 50 ? formatPlural(nodes.length, 'node') : hosts;
}

// At the end of a clause if one is near: half a sentence says another thing.
function shorten(text: string): string {
  if (text.length <= noteMax) return text;
  const start = text.slice(0, noteMax - 1);
  const clause = /^(.{60,})[.;:,]\s/.exec(start)?.[1];
  return `${clause ?? start.replace(/\s+\S*$/, '')}…`;
}

// Whom a job hurts is who owns it; `owners` may not know all.
export function usersOf(jobs: readonly number[], owners: ReadonlyMap<number, string> | undefined): string[] | null {
  if (!owners || jobs.some((id) => !owners.has(id))) return null;
  return [...new Set(jobs.map((id) => owners.get(id)!))].sort();
}
