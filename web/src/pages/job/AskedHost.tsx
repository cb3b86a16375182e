import { useJobSpec } from '../../api/queries';
import type { Job } from '../../api/types';
import { formatBytes } from '../../lib/format';
import { hostAsk } from '../../lib/jobSpec';

// CPUs and memory of each node, and whether a person sits in it, which only the job file tells.
export default function AskedHost({ job }: { job: Job }) {
  const spec = useJobSpec(String(job.id));
  const ask = spec.data === undefined ? null : hostAsk(spec.data);
  const usual = job.gpus_per_node === 0 ? 'all of the node' : job.gpus_per_node > 0 ? 'in proportion to its GPUs' : null;
  const unknown = spec.error ? `not known: ${spec.error.message}` : spec.data === undefined ? '…' : 'not known: the job file can\'t be read';
  return (
    <>
      <dt>CPUs</dt>
      <dd>{ask ? (ask.cpus ? `${ask.cpus} of each node` : (usual ?? '1 of each node')) : unknown}</dd>
      <dt>memory</dt>
      <dd>{ask ? (ask.memory ? `${/^\d+$/.test(ask.memory) ? formatBytes(Number(ask.memory)) : ask.memory} of each node` : (usual ?? 'in proportion to its CPUs')) : unknown}</dd>
      {ask?.isInteractive && (
        <>
          <dt>interactive</dt>
          <dd>makes room for nobody once it runs</dd>
        </>
      )}
    </>
  );
}
