import { Fragment } from 'react';
import { Link } from 'wouter';
import { useEvidence } from '../../api/queries';
import type { Incident } from '../../api/types';
import { EventFeed } from '../../components/EventFeed';
import { Failure, Loading } from '../../components/states';
import { formatCount, formatHosts, formatPlural, formatWord } from '../../lib/format';
import { eventsWithin, historyAddress, spanOfIncident, staysWithin } from '../../lib/incidentTime';
import { useNow } from '../../lib/useNow';

const nodesAsked = 12; // each is two questions
const jobsShown = 40;
const linesShown = 30;

// What the nodes of an incident said while it was open and shortly before, and who was on them. Asked for when it is looked
// at, because a page has many incidents.
export function Evidence({ incident, names }: { incident: Incident; names: readonly string[] }) {
  const now = useNow(10_000);
  const asked = names.slice(0, nodesAsked);
  const span = spanOfIncident(incident, now);
  const { stays, events, cut, error, isPending } = useEvidence(asked, span.from, incident.closed_at !== null);
  const said = eventsWithin(events, span);
  return (
    <div className="stack" style={{ gap: 'var(--s2)' }}>
      {error && <Failure error={error} />}
      {asked.length < names.length && <p className="dim small-text">Of the first {formatCount(asked.length)} of {formatPlural(names.length, 'node')}.</p>}
      {cut.length > 0 && (
        <p className="dim small-text">
          So much has happened on {formatHosts(cut)} since then that what was there and then may be missing here.
        </p>
      )}
      {isPending ? <Loading lines={3} /> : asked.length > 0 && (
        <>
          <JobsThen stays={staysWithin(stays, span)} isCut={cut.length > 0} />
          {said.length === 0 ? cut.length === 0 && <p className="dim">Nothing that these nodes said then is kept.</p> : <EventFeed events={said} most={linesShown} />}
        </>
      )}
      <p className="links">
        <Link href={historyAddress(incident, now)} style={{ display: 'inline-block', lineHeight: 'var(--target)' }}>The hours around it in the history</Link>
      </p>
    </div>
  );
}

function JobsThen({ stays, isCut }: { stays: ReturnType<typeof staysWithin>; isCut: boolean }) {
  if (stays.length === 0) return isCut ? null : <p>No job was on them then.</p>;
  const rest = stays.length - jobsShown;
  return (
    <p>
      {formatPlural(stays.length, 'job')} {stays.length === 1 ? 'was' : 'were'} on them then:{' '}
      <span className="links">
        {stays.slice(0, jobsShown).map(({ id, user, state, reason }, i) => (
          <Fragment key={id}>
            {i > 0 && ', '}
            <Link href={`/jobs/${id}`} title={reason}>{id}</Link> of {user} ({formatWord(state)})
          </Fragment>
        ))}
      </span>
      {rest > 0 && ` and ${formatCount(rest)} more`}
    </p>
  );
}
