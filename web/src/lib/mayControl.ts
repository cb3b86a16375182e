import type { Job, WhoAmI } from '../api/types';

// Whether the server would let this person stop, suspend or move the job: its owner may, and operators.
export function mayControl(me: Pick<WhoAmI, 'user' | 'role'> | undefined, job: Pick<Job, 'user'>): boolean {
  if (!me) return false;
  return me.role === 'operator' || me.role === 'admin' || (me.role === 'user' && me.user === job.user);
}
