import { useMemo } from 'react';
import { recentEvents } from '../../api/live';
import { useEvents } from '../../api/queries';
import { EventFeed } from '../../components/EventFeed';
import { Panel } from '../../components/Panel';
import { Await } from '../../components/states';
import { useStore } from '../../lib/store';

// What an operator wants to see go by: not each rank's start.
const kinds = [
  'attempt_suspending', 'attempt_ended', 'job_requeued', 'job_finished', 'node_liveness_changed',
  'node_scheduling_changed', 'incident_opened', 'incident_closed', 'reservation_dropped',
];
const shown = 12;

export function Activity() {
  const past = useEvents(kinds, 1);
  const recent = useStore(recentEvents);
  const events = useMemo(() => {
    const loaded = past.data?.[0]?.seq ?? 0;
    return recent.filter((event) => event.seq > loaded && kinds.includes(event.kind)).concat(past.data ?? []);
  }, [past.data, recent]);
  return (
    <Panel className="span8" title="Lately" aside="suspensions, ends, nodes">
      <Await answer={past}>{() => <EventFeed events={events.slice(0, shown)} withSubject />}</Await>
    </Panel>
  );
}
