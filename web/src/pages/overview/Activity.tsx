import { useEventLog } from '../../api/eventLog';
import { EventFeed } from '../../components/EventFeed';
import { Panel } from '../../components/Panel';
import { Await } from '../../components/states';

// What an operator wants to see go by: not each rank's start.
const kinds = [
  'attempt_suspending', 'attempt_ended', 'job_requeued', 'job_finished', 'node_liveness_changed',
  'node_scheduling_changed', 'incident_opened', 'incident_closed', 'reservation_dropped',
];
const shown = 12;

export function Activity() {
  const { events, error, isPending } = useEventLog(kinds, 1);
  return (
    <Panel id="lately" className="span8" title="Lately" aside="suspensions, ends, nodes">
      <Await answer={{ data: events, error, isPending }}>
        {(list) => <EventFeed events={list} most={shown} />}
      </Await>
    </Panel>
  );
}
