import { Link } from 'wouter';
import type { Job, Node } from '../api/types';
import { formatCount, formatHosts } from '../lib/format';

// That a job is called running does not say that it runs: of nodes that are silent nobody knows.
export function Unheard({ job, nodes }: { job: Job; nodes: readonly Node[] | undefined }) {
  if (job.state !== 'running' || !nodes || nodes.length === 0) return null;
  const hosts = formatHosts(nodes.map((node) => node.name));
  return (
    <p className="failure" role="status" style={{ marginBottom: '.75rem' }}>
      Nothing is heard of {hosts.length > 50 ? `${formatCount(nodes.length)} of its nodes` : hosts}: whether it still runs there is not known. <span className="links"><Link href="/now">What is wrong, and what hai does</Link></span>
    </p>
  );
}
