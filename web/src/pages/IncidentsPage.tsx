import { Link } from 'wouter';
import { useEvents, useIncidents } from '../api/queries';
import type { Incident } from '../api/types';
import { EventFeed } from '../components/EventFeed';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { formatAgo, formatTime, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';

const kinds = ['incident_opened', 'incident_changed', 'incident_closed'];
const nodesShown = 40;

export default function IncidentsPage() {
  const incidents = useIncidents();
  const history = useEvents(kinds, 1);
  return (
    <>
      <div className="page-head">
        <h1>Incidents</h1>
        <span className="dim">What the server will not decide alone.</span>
      </div>
      <div className="stack">
        <Await answer={incidents}>
          {(list) =>
            list.length === 0 ? (
              <Panel>
                <Empty title="Nothing is wrong now">An incident opens when many nodes fall silent at once, or when decisions stop.</Empty>
              </Panel>
            ) : (
              list.map((incident) => <Card key={incident.id} incident={incident} />)
            )
          }
        </Await>
        <Panel title="Before" aside="from the event log">
          <Await answer={history}>{(events) => <EventFeed events={events} />}</Await>
        </Panel>
      </div>
    </>
  );
}

function Card({ incident }: { incident: Incident }) {
  const now = useNow();
  const rest = incident.nodes.length - nodesShown;
  return (
    <Panel
      title={
        <span style={{ color: 'var(--failed)' }}>
          {formatWord(incident.kind)} · {incident.subject}
        </span>
      }
      aside={`opened ${formatTime(incident.opened_at, now)}, ${formatAgo(incident.opened_at, now)}`}
    >
      <div className="stack">
        <p>{incident.summary}</p>
        <p className="row wrap" style={{ gap: 4 }}>
          {incident.nodes.slice(0, nodesShown).map((name) => (
            <Link key={name} href={`/nodes/${encodeURIComponent(name)}`} className="tag">
              {name}
            </Link>
          ))}
          {rest > 0 && <span className="dim">and {rest} more</span>}
        </p>
        <p className="note">
          If you know that a node is off, fence it on its page: its jobs then run elsewhere at once. If it only lost the network, wait: nothing
          runs twice, and it comes back with its jobs.
        </p>
      </div>
    </Panel>
  );
}
