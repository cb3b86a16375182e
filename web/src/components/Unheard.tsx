import { Link } from 'wouter';
import type { Job, Node } from '../api/types';
import { unheard } from '../lib/silence';

export function Unheard({ job, nodes }: { job: Job; nodes: readonly Node[] | undefined }) {
  const text = unheard(job, nodes);
  if (text === '') return null;
  return (
    <p className="failure" role="status" style={{ marginBottom: '.75rem' }}>
      {text}. <span className="links"><Link href="/now">What is wrong, and what hai does</Link></span>
    </p>
  );
}
