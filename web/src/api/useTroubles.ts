import { useMemo } from 'react';
import { useDoubt } from '../components/AllWell';
import { staleSince } from '../lib/freshness';
import { failureKinds } from '../lib/losses';
import { livenessChanges } from '../lib/silence';
import { useStore } from '../lib/store';
import { missingNodes, type Trouble, troublesOf } from '../lib/troubles';
import { useNow } from '../lib/useNow';
import { useEventLog } from './eventLog';
import { useCluster, useIncidents, useNodesAside, useSomeNodes } from './queries';

const askedMax = 24; // nodes, one by one

export interface WhatIsWrong {
  troubles: Trouble[] | null; // null: not known yet
  since: number | null; // they are of that time, and nobody knows what is now; null: they are of now
  error: Error | null;
}

// What is wrong now. Every page that says so, or that all is well, asks here.
export function useTroubles(): WhatIsWrong {
  const cluster = useCluster();
  const incidents = useIncidents();
  const aside = useNodesAside(cluster.data?.nodes);
  const isAnySilent = aside.nodes?.some((node) => node.liveness !== 'up') ?? false;
  const liveness = useEventLog(livenessChanges, 1, isAnySilent);
  const { events: failures, error: unknownFailures } = useEventLog(failureKinds, 1);
  const doubts = [useDoubt(cluster), useDoubt(incidents), useDoubt(aside)].filter((each) => each !== null);
  const stale = useStore(staleSince);
  const now = useNow();
  const list = incidents.data;
  const jobs = cluster.data?.jobs;
  const missing = useMemo(
    () => (list && aside.nodes ? missingNodes(list, aside.nodes).slice(0, askedMax) : []),
    [list, aside.nodes],
  );
  const others = useSomeNodes(missing);
  const troubles = useMemo(() => {
    if (!list || !aside.nodes || !jobs) return null;
    const waiting = (jobs.queued ?? 0) + (jobs.suspended ?? 0);
    const found = troublesOf({
      incidents: list, aside: aside.nodes, others, livenessEvents: liveness.events ?? [], failures, staleSince: stale, waiting, now,
    });
    // Nodes have just left the usual states, and which is not known yet; or not what has failed.
    return found.length === 0 && (aside.isSettling || !failures) ? null : found;
  }, [list, aside.nodes, aside.isSettling, others, jobs, liveness.events, failures, stale, now]);
  return { troubles, since: doubts.length > 0 ? Math.min(...doubts) : null, error: cluster.error ?? incidents.error ?? aside.error ?? unknownFailures };
}
