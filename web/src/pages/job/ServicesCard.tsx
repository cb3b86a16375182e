import { useState, type FormEvent } from 'react';
import { useWhoAmI } from '../../api/queries';
import type { Job } from '../../api/types';
import { Panel } from '../../components/Panel';
import { servicesBase } from '../../lib/services';

// What the job's programs serve: for its owner, who alone is let in.
export function ServicesCard({ job }: { job: Job }) {
  const me = useWhoAmI().data;
  const base = servicesBase(me?.services_url ?? '', window.location);
  const isOpen = me?.user === job.user && !job.array && base !== '';
  if (job.services.length === 0 && !(isOpen && job.state === 'running')) return null;
  return (
    <Panel title="Services" aside={isOpen ? 'for you alone' : undefined}>
      <div className="stack">
        {job.services.length > 0 && (
          <ul className="services">
            {job.services.map((service) => (
              <li key={service.name}>
                {isOpen && service.path ? (
                  <a href={base + service.path} target="_blank" rel="noreferrer">
                    {service.name}
                  </a>
                ) : (
                  <b>{service.name}</b>
                )}{' '}
                <span className="dim">
                  port {service.port} of rank {service.rank}
                </span>
                {isOpen && !service.path && <code>hai forward {job.id} {service.name}</code>}
              </li>
            ))}
          </ul>
        )}
        {isOpen && job.state === 'running' && <OpenPort base={base} job={job.id} />}
      </div>
    </Panel>
  );
}

function OpenPort({ base, job }: { base: string; job: number }) {
  const [port, setPort] = useState('');
  const open = (event: FormEvent): void => {
    event.preventDefault();
    window.open(`${base}/jobs/${job}/${Number(port)}/`, '_blank', 'noreferrer');
  };
  return (
    <form className="open-port" onSubmit={open}>
      <label>
        Port of rank 0{' '}
        <input className="input" type="number" min={1} max={65535} required value={port} placeholder="8888" onChange={(event) => setPort(event.target.value)} />
      </label>
      <button type="submit" className="button">
        Open
      </button>
    </form>
  );
}
