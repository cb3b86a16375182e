import { type Job, type JobState, jobStates, pendingCodes, priorities } from '../api/types';

// What the jobs page shows, as it stands in the address. The server filters, and sorts what is
// unfinished; grouping works on the loaded rows.
const sortKeys = [
  'id',
  'name',
  'user',
  'group',
  'priority',
  'state',
  'node_count',
  'submitted_at',
  'lost_gpu_seconds',
  'suspend_count',
] as const;
export type SortKey = (typeof sortKeys)[number];
export const groupKeys = ['user', 'group', 'state', 'priority'] as const;
export type GroupKey = (typeof groupKeys)[number];

export interface JobFilter {
  states: JobState[];
  user: string;
  group: string;
  priority: string;
  tag: string;
  reason: string;
  array: string; // the id of an array, whose tasks are shown; '' = jobs and arrays
  text: string;
  sort: SortKey;
  descending: boolean;
  groupBy: GroupKey | null;
}

const textMax = 200;
const unfinished: JobState[] = ['queued', 'running', 'suspended'];

export const defaultFilter: JobFilter = {
  states: unfinished,
  user: '',
  group: '',
  priority: '',
  tag: '',
  reason: '',
  array: '',
  text: '',
  sort: 'id',
  descending: true,
  groupBy: null,
};

function isOneOf<T extends string>(words: readonly T[], word: string | null): word is T {
  return word !== null && (words as readonly string[]).includes(word);
}

export function parseJobFilter(search: string): JobFilter {
  const query = new URLSearchParams(search);
  const states = query.getAll('state').filter((word) => isOneOf(jobStates, word));
  const sort = query.get('sort');
  const group = query.get('by');
  return {
    states: query.get('state') === 'all' ? [] : states.length > 0 ? states : defaultFilter.states,
    user: query.get('user') ?? '',
    group: query.get('group') ?? '',
    priority: isOneOf(priorities, query.get('priority')) ? query.get('priority')! : '',
    tag: query.get('tag') ?? '',
    reason: isOneOf(pendingCodes, query.get('reason')) ? query.get('reason')! : '',
    array: /^[1-9]\d{0,15}$/.test(query.get('array') ?? '') ? query.get('array')! : '',
    text: (query.get('q') ?? '').slice(0, textMax),
    sort: isOneOf(sortKeys, sort) ? sort : defaultFilter.sort,
    descending: query.get('order') !== 'asc',
    groupBy: isOneOf(groupKeys, group) ? group : null,
  };
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));

// Only what differs from the default, so that addresses stay short.
export function formatJobFilter(filter: JobFilter): string {
  const query = new URLSearchParams();
  if (filter.states.length === 0) query.set('state', 'all');
  else if (!sameSet(filter.states, unfinished)) {
    for (const state of filter.states) query.append('state', state);
  }
  const texts = { user: filter.user, group: filter.group, priority: filter.priority, tag: filter.tag, reason: filter.reason, array: filter.array };
  for (const [key, value] of Object.entries(texts)) if (value !== '') query.set(key, value);
  if (filter.text !== '') query.set('q', filter.text);
  if (filter.sort !== defaultFilter.sort) query.set('sort', filter.sort);
  if (!filter.descending) query.set('order', 'asc');
  if (filter.groupBy) query.set('by', filter.groupBy);
  return query.toString();
}

// An array waits until its last task has ended, so where only what runs is shown, or what waits for a reason that only tasks
// have, it stands for none of them and they are shown themselves: as many as the overview counts, which leads here.
export const showsTasks = ({ array, states, reason }: JobFilter): boolean =>
  array === '' && ((states.length > 0 && !states.includes('queued') && states.every((state) => unfinished.includes(state))) || !['', 'array'].includes(reason));

// The part of the filter that the server applies.
export function serverQuery(filter: JobFilter): string {
  const query = new URLSearchParams();
  for (const state of filter.states) query.append('state', state);
  if (filter.states.length === 0) query.set('finished', 'true');
  if (filter.user !== '') query.set('user', filter.user);
  if (filter.group !== '') query.set('group', filter.group);
  if (filter.priority !== '') query.set('priority', filter.priority);
  if (filter.tag !== '') query.set('tag', filter.tag);
  if (filter.reason !== '') query.set('reason', filter.reason);
  if (filter.array !== '') query.set('array', filter.array);
  if (showsTasks(filter)) query.set('tasks', 'true');
  if (filter.text !== '') query.set('q', filter.text);
  const isUnfinished = filter.states.length > 0 && filter.states.every((state) => unfinished.includes(state));
  const isNewestFirst = filter.sort === 'id' && filter.descending;
  if (isUnfinished && !isNewestFirst && filter.sort !== 'suspend_count') {
    query.set('sort', `${filter.descending ? '-' : ''}${filter.sort}`);
  }
  return query.toString();
}

function hasText(job: Job, text: string): boolean {
  const wanted = text.toLowerCase();
  return [job.name, job.user, ...job.tags].some((each) => each.toLowerCase().includes(wanted)) || String(job.id) === wanted;
}

export function matchesServerFilter(job: Job, filter: JobFilter): boolean {
  if (!showsTasks(filter) && filter.array !== (job.array_task ? String(job.array_task.array) : '')) return false;
  if (filter.states.length > 0 && !filter.states.includes(job.state)) return false;
  if (filter.user !== '' && job.user !== filter.user) return false;
  if (filter.group !== '' && job.group !== filter.group) return false;
  if (filter.priority !== '' && job.priority !== filter.priority) return false;
  if (filter.tag !== '' && !job.tags.includes(filter.tag)) return false;
  if (filter.reason !== '' && job.pending_reason?.code !== filter.reason) return false;
  return filter.text === '' || hasText(job, filter.text);
}
