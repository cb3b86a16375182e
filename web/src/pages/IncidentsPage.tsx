import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { closeIncident } from '../api/actions';
import { useClosedIncidents, useIncidents, useRunningOwners, useWhoAmI } from '../api/queries';
import type { Incident } from '../api/types';
import { useTroubles, type WhatIsWrong } from '../api/useTroubles';
import { Dialog } from '../components/Dialog';
import { AllWell } from '../components/AllWell';
import { Hurt } from '../components/Hurt';
import { Coded } from '../components/Coded';
import { Linked } from '../components/Linked';
import { Panel } from '../components/Panel';
import { Await, Empty, Failure, Loading } from '../components/states';
import { toast } from '../components/Toasts';
import { Table } from '../components/Table';
import { Troubles } from '../components/Troubles';
import { formatCount, formatDuration, formatPast, formatPlural, formatTime, formatWord, secondsBetween } from '../lib/format';
import { everConcerned } from '../lib/hostlist';
import { runbookOf } from '../lib/runbooks';
import { bySeverity, helpOf, type Trouble } from '../lib/troubles';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { Evidence } from './incidents/Evidence';

const nodesShown = 40;
const jobsShown = 40;

// The one that the address names, ?id=7.
function useWanted(): number | null {
  const id = new URLSearchParams(useSearch()).get('id') ?? '';
  return /^[1-9]\d{0,15}$/.test(id) ? Number(id) : null;
}

const addressOf = (id: number): string => `/incidents?id=${id}`;

// Where the one that the address names stands, once it is here.
function useShown(isWanted: boolean) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isWanted) box.current?.scrollIntoView({ block: 'center' });
  }, [isWanted]);
  return { ref: box, className: isWanted ? 'asked' : '' };
}

export default function IncidentsPage() {
  useTitle('Incidents');
  const wanted = useWanted();
  const incidents = useIncidents();
  const isOpen = incidents.data?.some(({ id }) => id === wanted) ?? true;
  const closed = useClosedIncidents(isOpen ? null : wanted);
  const wrong = useTroubles();
  const owners = useRunningOwners(wrong.troubles?.some(({ jobs }) => jobs.length > 0) ?? false).data;
  const before = isOpen ? undefined : closed.data?.incidents.find(({ id }) => id === wanted);
  const isMissing = wanted !== null && !isOpen && closed.data !== undefined && !closed.isPlaceholderData && !before;
  return (
    <>
      <div className="page-head">
        <h1>Incidents</h1>
        <span className="dim">What went wrong, what was decided about it, and what the server will not decide alone.</span>
        <span className="grow" />
        <Link href="/runbooks">Runbooks</Link>
      </div>
      <div className="stack">
        {isMissing && <p className="note">Incident {wanted} is neither open nor among those before that are kept here.</p>}
        {before && <Card key={before.id} incident={before} trouble={undefined} owners={owners} isWanted />}
        <Await answer={incidents}>
          {(list) =>
            bySeverity(list).map((incident) => (
              <Card
                key={incident.id}
                incident={incident}
                trouble={wrong.troubles?.find((each) => each.incident === incident.id)}
                owners={owners}
                isWanted={incident.id === wanted}
              />
            ))
          }
        </Await>
        <Beside {...wrong} />
        <Panel title="Before" aside={closed.data && `${closed.data.isWhole ? '' : 'the newest '}${formatPlural(closed.data.incidents.length, 'incident')}`}>
          <Await answer={closed}>{({ incidents: list }) => <Closed incidents={list} />}</Await>
        </Panel>
      </div>
    </>
  );
}

// What is wrong without an incident. A page without any may not say that all is well while nodes are down.
function Beside({ troubles, since, error }: WhatIsWrong) {
  if (troubles === null) return error ? <Failure error={error} /> : <Loading />;
  const others = troubles.filter((each) => each.incident === null);
  if (troubles.length > 0 && others.length === 0) return null;
  return (
    <Panel title={others.length > 0 ? 'Wrong, without an incident' : undefined} aside={others.length > 0 ? <Link href="/now">more of it</Link> : undefined}>
      {others.length > 0 ? (
        <Troubles troubles={others} />
      ) : (
        <AllWell title="Nothing is wrong now" since={since}>
          An incident opens when nodes fall silent together, hardware fails, a job hangs, or decisions stop.
        </AllWell>
      )}
    </Panel>
  );
}

function Closed({ incidents }: { incidents: readonly Incident[] }) {
  if (incidents.length === 0) return <Empty title="None so far" />;
  return (
    <Table label="incidents before" className="cards">
      <thead>
        <tr>
          <th>opened</th>
          <th>lasted</th>
          <th>what</th>
          <th>of</th>
          <th>summary</th>
          <th>how it ended</th>
        </tr>
      </thead>
      <tbody>
        {incidents.map((incident) => (
          <ClosedRow key={incident.id} incident={incident} />
        ))}
      </tbody>
    </Table>
  );
}

function ClosedRow({ incident }: { incident: Incident }) {
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
  return (
    <tr>
      <td className="now links">
        <Link href={addressOf(incident.id)}>{formatTime(incident.opened_at, now)}</Link>
      </td>
      <td className="now" data-label="lasted">{incident.closed_at && formatDuration(secondsBetween(incident.opened_at, incident.closed_at))}</td>
      <td>{formatWord(incident.kind)}</td>
      <td className="mono"><SubjectLink subject={incident.subject} /></td>
      <td className="text">
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary><Coded text={incident.summary} /></summary>
          <Nodes names={concerned(incident)} />
          <Notes incident={incident} />
          <NextStep incident={incident} />
          {isOpen && <Evidence incident={incident} names={concerned(incident)} />}
        </details>
      </td>
      <td className="text">{incident.close_reason ?? ''}</td>
    </tr>
  );
}

// While it is open, those that it is about now.
const concerned = (incident: Incident): readonly string[] => (incident.closed_at === null ? incident.nodes : everConcerned(incident));

function Nodes({ names }: { names: readonly string[] }) {
  const rest = names.length - nodesShown;
  if (names.length === 0) return null;
  return (
    <p className="row wrap" style={{ gap: 4 }}>
      {names.slice(0, nodesShown).map((name) => (
        <Link key={name} href={`/nodes/${encodeURIComponent(name)}`} className="tag">
          {name}
        </Link>
      ))}
      {rest > 0 && <span className="dim">and {formatCount(rest)} more</span>}
    </p>
  );
}

function Notes({ incident }: { incident: Incident }) {
  const now = useNow();
  const nodes = useMemo(() => new Set(everConcerned(incident)), [incident]);
  return (incident.notes ?? []).map((note) => (
    <p key={note.at + note.text} className="note links">
      {formatTime(note.at, now)} <Linked text={note.text} nodes={nodes} />
    </p>
  ));
}

// For operators: what is settled in the world and the server can't see.
function Close({ incident }: { incident: Incident }) {
  const role = useWhoAmI().data?.role;
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const [reason, setReason] = useState('');
  if (role !== 'admin' && role !== 'operator') return null;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setAsked(false);
    try {
      await closeIncident(incident.id, reason);
      toast(`Incident ${incident.id} closed`);
    } catch (error) {
      toast(`Incident ${incident.id}: ${(error as Error).message}`, 'failed');
    }
    void client.invalidateQueries({ queryKey: ['incidents'] });
  };
  return (
    <>
      <button className="button small" onClick={() => setAsked(true)}>
        Close
      </button>
      <Dialog title={`Close incident ${incident.id}?`} isOpen={isAsked} onClose={() => setAsked(false)}>
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <p className="dim">The server closes it by itself when its cause is gone; close what only people can know to be over.</p>
          <label className="field">
            Reason (kept with it)
            <input className="input" value={reason} required autoFocus onChange={(event) => setReason(event.target.value)} />
          </label>
          <footer>
            <button type="button" className="button quiet" onClick={() => setAsked(false)}>
              Cancel
            </button>
            <button className="button primary">Close</button>
          </footer>
        </form>
      </Dialog>
    </>
  );
}

// What it is about, whom it hurts, and the next step as the runbook has it; of one that is over, too.
function NextStep({ incident, trouble, owners }: { incident: Incident; trouble?: Trouble; owners?: ReadonlyMap<number, string> }) {
  const help = trouble ?? helpOf(incident.kind);
  const isOver = incident.closed_at !== null;
  const runbook = runbookOf(incident.kind);
  return (
    <dl className="facts">
      <dt>of</dt>
      <dd>
        <SubjectLink subject={incident.subject} />
      </dd>
      {trouble && (
        <>
          <dt>hurts</dt>
          <dd>
            <Hurt trouble={trouble} owners={owners} most={jobsShown} />
          </dd>
        </>
      )}
      <dt>{isOver ? 'hai did' : 'hai does'}</dt>
      <dd>
        {help.itself}
        {!isOver && `; ends ${help.ends}`}
      </dd>
      <dt>a person</dt>
      <dd>
        {help.person === '' ? 'Nothing to do.' : help.person.replace('NODE', incident.nodes.length === 1 ? incident.nodes[0]! : 'NODE')}
      </dd>
      <dt>runbook</dt>
      <dd className="links">
        <Link href={`/runbooks#${runbook}`}>{runbook.replaceAll('-', ' ')}</Link>
      </dd>
    </dl>
  );
}

function SubjectLink({ subject }: { subject: string }) {
  const [kind, ...rest] = subject.split('/');
  if (kind === 'job') return <Link href={`/jobs/${rest[0]}`}>job {rest[0]}</Link>;
  if (kind === 'node') return <Link href={`/nodes/${encodeURIComponent(rest.join('/'))}`}>{rest.join('/')}</Link>;
  if (kind === 'leaf') return <Link href={`/nodes?q=${encodeURIComponent(rest.at(-1)!)}`}>{rest.join(', ')}</Link>;
  return <bdi>{subject}</bdi>;
}

// Of one that is over it is what is left to see; of an open one it is asked for on demand.
function Unfolded({ incident, isOver }: { incident: Incident; isOver: boolean }) {
  const [isOpen, setOpen] = useState(isOver);
  return (
    <details className="unfold" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What its nodes said, and who was on them</summary>
      {isOpen && <Evidence incident={incident} names={concerned(incident)} />}
    </details>
  );
}

interface CardProps {
  incident: Incident;
  trouble: Trouble | undefined;
  owners: ReadonlyMap<number, string> | undefined;
  isWanted: boolean;
}

function Card({ incident, trouble, owners, isWanted }: CardProps) {
  const now = useNow();
  const shown = useShown(isWanted);
  return (
    <div {...shown}>
      <Panel
        title={
          <Link href={addressOf(incident.id)} style={{ color: incident.closed_at === null ? 'var(--failed)' : undefined }}>
            {formatWord(incident.kind)} · <bdi>{incident.subject}</bdi>
          </Link>
        }
        aside={
          <>
            opened {formatTime(incident.opened_at, now)}, {incident.closed_at === null ? <>{formatPast(incident.opened_at, now)} <Close incident={incident} /></> : `lasted ${formatDuration(secondsBetween(incident.opened_at, incident.closed_at))}`}
          </>
        }
      >
        <div className="stack">
          <p><Coded text={incident.summary} /></p>
          {incident.closed_at !== null && <p className="note">Over: {incident.close_reason}</p>}
          <Nodes names={concerned(incident)} />
          <Notes incident={incident} />
          <NextStep incident={incident} trouble={trouble} owners={owners} />
          {incident.closed_at === null && trouble?.more && <p className="note">{trouble.more}</p>}
          <Unfolded incident={incident} isOver={incident.closed_at !== null} />
        </div>
      </Panel>
    </div>
  );
}
