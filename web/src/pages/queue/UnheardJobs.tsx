import type { Node } from '../../api/types';
import { JobLinks } from '../../components/Hurt';
import { formatPlural } from '../../lib/format';
import { silentHosts } from '../../lib/silence';

const jobsMax = 12;

// Under the picture of who is on the nodes: of whom that is not sure.
export function UnheardJobs({ silent }: { silent: ReadonlyMap<number, readonly Node[]> }) {
  if (silent.size === 0) return null;
  const jobs = [...silent.keys()].sort((a, b) => a - b);
  const nodes = new Set([...silent.values()].flat().map((node) => node.name));
  return (
    <p className="failure" role="status" style={{ marginBlock: 'var(--s2)' }}>
      Nothing is heard of {silentHosts([...nodes])}: whether {jobs.length === 1 ? 'this job still runs' : `these ${formatPlural(jobs.length, 'job')} still run`} there, and until when, is not known:{' '}
      <JobLinks jobs={jobs} most={jobsMax} />
    </p>
  );
}
