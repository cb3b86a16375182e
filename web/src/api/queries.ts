import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { get, open } from './client';
import { eventListKey, withLater } from './eventLists';
import type {
  Attempt, AuditEntry, Cluster, ClusterEvent, EventPage, HistoryReport, Incident, IncidentPage, Job, JobCheckpoint, JobPage, JobUsage, Knob, Node, NodePage, NodeStay, ProgressPoint, Queue, QueueEntry, Quota, Series,
  Token, User, WhoAmI, Why,
} from './types';
import { eventsOfOnePage } from '../lib/losses';

// Every answer of the server is kept here, and events keep it fresh (live.ts); the long intervals only
// cover what no event tells.
const nodePageMax = 5_000;
const jobPageMax = 1_000;
const queuePageMax = 200;
const queuePlacePagesMax = 5; // who has more alike that wait is not told the place of each

export const useWhoAmI = () =>
  useQuery({ queryKey: ['whoami'], queryFn: ({ signal }) => get<WhoAmI>('/whoami', signal) });

export const useCluster = () =>
  useQuery({
    queryKey: ['cluster'],
    queryFn: ({ signal }) => get<Cluster>('/cluster', signal),
    refetchInterval: 10_000,
  });

export const useSeries = (window: string) =>
  useQuery({
    queryKey: ['series', window],
    queryFn: ({ signal }) => get<Series>(`/cluster/series?window=${window}`, signal),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });

async function fetchNodes(query: string, signal: AbortSignal): Promise<Node[]> {
  const nodes: Node[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: NodePage = await get<NodePage>(`/nodes?limit=${nodePageMax}${query}${at}`, signal);
    nodes.push(...page.nodes);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return nodes;
}

export const useNodes = () =>
  useQuery({ queryKey: ['nodes'], queryFn: ({ signal }) => fetchNodes('', signal), refetchInterval: 30_000 });

// Those that are not up or not open, and no others: few on a good day.
// `isSettling`: what is here was asked for other words than there are now.
export interface NodesAside {
  nodes: Node[] | undefined;
  error: Error | null;
  dataUpdatedAt: number;
  isSettling: boolean;
}
// `counts`: of the cluster, which say what there is to ask for; none is known yet without.
export function useNodesAside({ liveness, scheduling }: Cluster['nodes'] = { liveness: {}, scheduling: {} }): NodesAside {
  const present = (words: Record<string, number | undefined>, usual: string): string[] =>
    Object.keys(words).filter((word) => word !== usual && (words[word] ?? 0) > 0);
  const queries = [...present(liveness, 'up').map((word) => `&liveness=${word}`), ...present(scheduling, 'open').map((word) => `&scheduling=${word}`)];
  const answer = useQuery({
    queryKey: ['nodes-aside', queries.join('')],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(queries.map((query) => fetchNodes(query, signal)));
      return [...new Map(lists.flat().map((node) => [node.name, node])).values()];
    },
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
  const isSettling = answer.isPlaceholderData;
  return { nodes: answer.data, error: answer.error, dataUpdatedAt: isSettling ? Date.now() : answer.dataUpdatedAt, isSettling };
}

// Some nodes, as far as they are known.
export const useSomeNodes = (names: readonly string[]): Node[] =>
  useQueries({
    queries: names.map((name) => ({
      queryKey: ['node', name],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Node>(`/nodes/${encodeURIComponent(name)}`, signal),
      refetchInterval: 30_000,
    })),
    combine: (answers) => answers.flatMap(({ data }) => data ?? []),
  });

export const useNode = (name: string) =>
  useQuery({
    queryKey: ['node', name],
    queryFn: ({ signal }) => get<Node>(`/nodes/${encodeURIComponent(name)}`, signal),
    refetchInterval: 10_000,
  });

export const useJob = (id: string) =>
  useQuery({
    queryKey: ['job', id],
    queryFn: ({ signal }) => get<Job>(`/jobs/${encodeURIComponent(id)}`, signal),
    refetchInterval: 10_000,
  });

export const useAttempts = (id: string) =>
  useQuery({
    queryKey: ['attempts', id],
    queryFn: async ({ signal }) =>
      (await get<{ attempts: Attempt[] }>(`/jobs/${encodeURIComponent(id)}/attempts`, signal)).attempts,
  });

// Of several jobs, as far as they are known, in the order of `ids`.
export const useAttemptsOf = (ids: readonly number[]): (Attempt[] | undefined)[] =>
  useQueries({
    queries: ids.map((id) => ({
      queryKey: ['attempts', String(id)],
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await get<{ attempts: Attempt[] }>(`/jobs/${id}/attempts`, signal)).attempts,
    })),
    combine: (answers) => answers.map(({ data }) => data),
  });

export const useJobEvents = (id: string) =>
  useQuery({
    queryKey: ['job-events', id],
    queryFn: async ({ signal }) =>
      (await get<EventPage>(`/jobs/${encodeURIComponent(id)}/events?limit=${eventsOfOnePage}`, signal)).events,
  });

// Whose the running jobs are, while somebody wants to know.
export const useRunningOwners = (isOn: boolean) =>
  useQuery({
    queryKey: ['running-owners'],
    queryFn: async ({ signal }) => {
      const owners = new Map<number, string>();
      let cursor: string | null = null;
      do {
        const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: JobPage = await get<JobPage>(`/jobs?limit=${jobPageMax}&state=running&fields=id,user${at}`, signal);
        for (const { id, user } of page.jobs) owners.set(id, user);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return owners;
    },
    enabled: isOn,
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });

// The job file it was submitted with, as YAML.
export const useJobSpec = (id: string) =>
  useQuery({
    queryKey: ['job-spec', id],
    queryFn: async ({ signal }) => (await open(`/api/v1/jobs/${encodeURIComponent(id)}/spec`, { signal })).text(),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const useCheckpoints = (id: string) =>
  useQuery({
    queryKey: ['checkpoints', id],
    queryFn: async ({ signal }) =>
      (await get<{ checkpoints: JobCheckpoint[] }>(`/jobs/${encodeURIComponent(id)}/checkpoints`, signal)).checkpoints,
  });

export const useProgress = (id: string) =>
  useQuery({
    queryKey: ['progress', id],
    queryFn: async ({ signal }) => (await get<{ points: ProgressPoint[] }>(`/jobs/${encodeURIComponent(id)}/progress`, signal)).points,
    refetchInterval: 10_000,
  });

// The reasons alone, which are there at once: the estimate takes a second when thousands wait.
export const useReasons = (id: string) =>
  useQuery({
    queryKey: ['why', id, 'reasons'],
    queryFn: ({ signal }) => get<Why>(`/jobs/${encodeURIComponent(id)}/why?estimate=false`, signal),
  });

export const useWhy = (id: string, isOn: boolean) =>
  useQuery({
    queryKey: ['why', id],
    queryFn: ({ signal }) => get<Why>(`/jobs/${encodeURIComponent(id)}/why`, signal),
    enabled: isOn,
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });

// What is asked anew whenever other jobs are there. Where they come and go by the second nobody comes back to the last answer.
const passingMs = 10_000;

// Of these kinds, all if none is named. As the jobs of the node, asked anew when others are there.
export const nodeEventsQuery = (name: string, kinds: readonly string[], running: readonly number[]) => ({
  queryKey: ['node-events', name, kinds.join(','), running.join(',')],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const only = kinds.map((kind) => `&kind=${kind}`).join('');
    return (await get<EventPage>(`/events?format=list&limit=200&node=${encodeURIComponent(name)}${only}`, signal)).events;
  },
  refetchInterval: 30_000,
  gcTime: passingMs,
});

export const useNodeEvents = (name: string, kinds: readonly string[], running: readonly number[]) =>
  useQuery({ ...nodeEventsQuery(name, kinds, running), placeholderData: keepPreviousData });

// Who is and was there.
const nodeJobsQuery = (name: string, running: readonly number[]) => ({
  queryKey: ['node-jobs', name, running.join(',')],
  queryFn: async ({ signal }: { signal: AbortSignal }) => (await get<{ jobs: NodeStay[] }>(`/nodes/${encodeURIComponent(name)}/jobs?limit=200`, signal)).jobs,
  gcTime: passingMs,
});

export const useNodeJobs = (name: string, running: readonly number[]) => useQuery({ ...nodeJobsQuery(name, running), placeholderData: keepPreviousData });

const evidenceKinds = ['node_check_changed', 'node_check_handled', 'node_marked', 'node_repair_changed', 'node_validated', 'node_scheduling_changed', 'node_liveness_changed', 'node_registered'];

const evidencePagesMax = 10;
const evidencePage = 1_000; // the server's most

interface Past<T> {
  found: T[];
  isWhole: boolean; // reaches back as far as was asked
}

// What a node has said of itself, from now back to a time. The server may answer a page with little on it, or nothing: it
// chooses the kinds after it has read a page of all that concerns the node, which on a busy one is its jobs.
async function saidSince(name: string, from: number, signal: AbortSignal): Promise<Past<ClusterEvent>> {
  const found: ClusterEvent[] = [];
  const query = new URLSearchParams({ format: 'list', limit: String(evidencePage), node: name });
  for (const kind of evidenceKinds) query.append('kind', kind);
  for (let page = 0; page < evidencePagesMax; page += 1) {
    const { events, next_cursor } = await get<EventPage>(`/events?${query}`, signal);
    found.push(...events);
    const oldest = found.at(-1);
    if (next_cursor === null || (oldest && Date.parse(oldest.time) < from)) return { found, isWhole: true };
    query.set('before', String(next_cursor));
  }
  return { found, isWhole: false };
}

// Who was there: the newest, which is enough for all but busy nodes, and there the most that the server tells.
async function staysSince(name: string, from: number, signal: AbortSignal): Promise<Past<NodeStay>> {
  const newest = async (limit: number): Promise<Past<NodeStay>> => {
    const { jobs: found } = await get<{ jobs: NodeStay[] }>(`/nodes/${encodeURIComponent(name)}/jobs?limit=${limit}`, signal);
    return { found, isWhole: found.length < limit || found.some(({ placed_at }) => Date.parse(placed_at) < from) };
  };
  const few = await newest(200);
  return few.isWhole ? few : newest(evidencePage);
}

// Of some nodes since a time; `cut` are those of which what is told does not reach back that far.
export const useEvidence = (names: readonly string[], from: number, isOver: boolean): { stays: NodeStay[]; events: ClusterEvent[]; cut: string[]; error: Error | null; isPending: boolean } => {
  const often = { refetchInterval: isOver ? (false as const) : 30_000, gcTime: passingMs };
  const said = useQueries({
    queries: names.map((name) => ({ ...often, queryKey: ['said-since', name, from], queryFn: ({ signal }: { signal: AbortSignal }) => saidSince(name, from, signal) })),
  });
  const stays = useQueries({
    queries: names.map((name) => ({ ...often, queryKey: ['stays-since', name, from], queryFn: ({ signal }: { signal: AbortSignal }) => staysSince(name, from, signal) })),
  });
  const all = [...said, ...stays];
  return {
    stays: stays.flatMap(({ data }) => data?.found ?? []),
    events: said.flatMap(({ data }) => data?.found ?? []),
    cut: names.filter((_, i) => said[i]?.data?.isWhole === false || stays[i]?.data?.isWhole === false),
    error: all.find((each) => each.error)?.error ?? null,
    isPending: all.some((each) => each.isPending),
  };
};

export const useIncidents = () =>
  useQuery({
    queryKey: ['incidents'],
    queryFn: async ({ signal }) => (await get<{ incidents: Incident[] }>('/incidents', signal)).incidents,
    refetchInterval: 30_000,
  });

const closedPagesMax = 20;

// The newest that are over; as far back as the one that is wanted.
export const useClosedIncidents = (wanted: number | null) =>
  useQuery({
    queryKey: ['incidents', 'closed', wanted],
    queryFn: async ({ signal }) => {
      const incidents: Incident[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < closedPagesMax; page += 1) {
        const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const answer: IncidentPage = await get<IncidentPage>(`/incidents?state=closed${at}`, signal);
        incidents.push(...answer.incidents);
        cursor = answer.next_cursor;
        if (cursor === null || wanted === null || incidents.some(({ id }) => id === wanted)) break;
      }
      return { incidents, isWhole: cursor === null };
    },
    placeholderData: keepPreviousData,
  });

export const useQuotas = (owner = '') =>
  useQuery({
    queryKey: ['quotas', owner],
    queryFn: async ({ signal }) =>
      (await get<{ quotas: Quota[] }>(`/quotas?owner=${encodeURIComponent(owner)}`, signal)).quotas,
  });

export const useUsers = () =>
  useQuery({
    queryKey: ['users'],
    queryFn: async ({ signal }) => (await get<{ users: User[] }>('/users', signal)).users,
  });

// The newest events of some kinds, page after page.
export const useEvents = (kinds: readonly string[], pages: number, isOn = true) =>
  useQuery({
    enabled: isOn,
    queryKey: eventListKey(kinds, pages),
    queryFn: ({ signal }) => withLater(kinds, pages, async () => {
      const events: ClusterEvent[] = [];
      let before: number | null = null;
      for (let i = 0; i < pages; i += 1) {
        const query = new URLSearchParams({ format: 'list', limit: String(eventsOfOnePage) });
        for (const kind of kinds) query.append('kind', kind);
        if (before !== null) query.set('before', String(before));
        const page: EventPage = await get<EventPage>(`/events?${query}`, signal);
        events.push(...page.events);
        before = page.next_cursor;
        if (before === null || page.events.length === 0) break;
      }
      return events;
    }),
    staleTime: 5 * 60_000,
    structuralSharing: false, // an event is never another one; comparing all of them each time they move would cost
  });

export type JobPages = InfiniteData<JobPage, string>;

interface JobList {
  jobs: Job[];
  isKnown: boolean; // else nobody has told of any
  isComplete: boolean;
  isLoading: boolean;
  isLoadingMore: boolean;
  error: Error | null;
  loadMore: () => void;
}

// Closures of one function keep alive what any of them uses. The cache keeps these longer than a page keeps its rows.
const jobListOptions = (query: string) => ({
  queryKey: ['jobs', query],
  queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
    get<JobPage>(`/jobs?limit=${jobPageMax}&${query}${pageParam ? `&cursor=${pageParam}` : ''}`, signal),
  initialPageParam: '',
  getNextPageParam: (page: JobPage) => page.next_cursor,
  // Reasons of waiting change without an event; short lists can afford to ask again.
  refetchInterval: ({ state }: { state: { data: JobPages | undefined } }) => ((state.data?.pages.length ?? 0) <= 2 ? 15_000 : (false as const)),
  placeholderData: keepPreviousData,
});

// Newest first, a thousand at a time; `atLeast` rows come by themselves, the rest when asked for.
export function useJobList(query: string, atLeast: number): JobList {
  const list = useInfiniteQuery({
    ...jobListOptions(query),
    // Named, because what finds them out by itself keeps the first answer for ever.
    notifyOnChangeProps: ['data', 'error', 'hasNextPage', 'isFetching', 'isFetchingNextPage', 'isPending'],
  });
  const pages = list.data?.pages;
  const jobs = useMemo(() => (pages ?? []).flatMap((page) => page.jobs), [pages]);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetching && jobs.length < atLeast) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, jobs.length, atLeast]);
  return {
    jobs,
    isKnown: pages !== undefined,
    isComplete: pages !== undefined && !hasNextPage,
    isLoading: list.isPending,
    isLoadingMore: list.isFetchingNextPage,
    error: list.error,
    loadMore: () => {
      if (hasNextPage && !isFetching) void fetchNextPage();
    },
  };
}

// What waits, page after page. The first look ahead takes the server seconds: asked again until it is there.
export const useQueue = (query: string, isOn = true) =>
  useInfiniteQuery({
    queryKey: ['queue', query],
    queryFn: ({ pageParam, signal }) => get<Queue>(`/queue?limit=${queuePageMax}&${query}${pageParam ? `&cursor=${pageParam}` : ''}`, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    enabled: isOn,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.estimated_at === null ? 1_000 : (state.data?.pages.length ?? 0) <= 2 ? 5_000 : 30_000),
    placeholderData: keepPreviousData,
  });

// Where one job stands in the queue. The look ahead over the whole queue is there already, so that it comes in
// milliseconds, while an estimate for the job alone takes a second when thousands wait.
export const useQueuePlace = ({ id, user, group, priority }: Job) =>
  useQuery({
    queryKey: ['queue-place', id],
    queryFn: async ({ signal }) => {
      let cursor: string | null = '';
      let entry: QueueEntry | undefined;
      let foreseenAt: string | null = null;
      for (let page = 0; page < queuePlacePagesMax && cursor !== null && !entry; page += 1) {
        const query: string = new URLSearchParams({ limit: String(queuePageMax), user, group, priority, ...(cursor === '' ? {} : { cursor }) }).toString();
        const answer: Queue = await get<Queue>(`/queue?${query}`, signal);
        entry = answer.entries.find((each) => each.id === id);
        ({ next_cursor: cursor, estimated_at: foreseenAt } = answer);
      }
      return { entry: entry ?? null, foreseenAt };
    },
    refetchInterval: 30_000,
  });

export const useHistory = (query: string, isOn = true) =>
  useQuery({
    queryKey: ['history', query],
    queryFn: ({ signal }) => get<HistoryReport>(`/history?${query}`, signal),
    enabled: isOn,
    staleTime: 60_000,
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });

// attempt 0 = the latest known.
export const useJobUsage = (id: string, attempt: number, isRunning: boolean) =>
  useQuery({
    queryKey: ['job-usage', id, attempt],
    queryFn: ({ signal }) => get<JobUsage>(`/jobs/${encodeURIComponent(id)}/usage?attempt=${attempt}`, signal),
    refetchInterval: isRunning ? 10_000 : false,
    placeholderData: keepPreviousData,
  });

// '' = one's own.
export const useTokens = (user = '') =>
  useQuery({
    queryKey: ['tokens', user],
    queryFn: async ({ signal }) => (await get<{ tokens: Token[] }>(`/tokens?user=${encodeURIComponent(user)}`, signal)).tokens,
  });

export const useKnobs = () =>
  useQuery({
    queryKey: ['knobs'],
    queryFn: async ({ signal }) => (await get<{ knobs: Knob[] }>('/knobs', signal)).knobs,
  });

// The newest entries of some calls, call=…, or about a job or node, target=…; for admins.
export const useAudit = (query: string, isOn: boolean) =>
  useQuery({
    queryKey: ['audit', query],
    queryFn: async ({ signal }) => (await get<{ entries: AuditEntry[] }>(`/audit?${query}&limit=8`, signal)).entries,
    enabled: isOn,
    refetchInterval: 15_000, // no event tells of it
  });
