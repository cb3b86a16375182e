import { Link } from 'wouter';
import type { Node } from '../../api/types';
import { Panel } from '../../components/Panel';
import { Table } from '../../components/Table';
import { formatReading } from '../../lib/format';

// Which job has which GPU, and what its driver says; a dash where it says nothing.
export function Gpus({ node }: { node: Node }) {
  return (
    <Panel title="GPUs" aside={node.liveness !== 'up' && 'when it was last heard'}>
      <Table label="GPUs">
        <thead>
          <tr>
            <th className="num">GPU</th>
            <th>job</th>
            <th className="num">busy</th>
            <th className="num">memory</th>
            <th className="num">heat</th>
            <th className="num">power</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: node.gpus }, (_, gpu) => {
            const job = node.gpu_jobs[gpu] ?? null;
            return (
              <tr key={gpu}>
                <td className="num">{gpu}</td>
                <td className="mono">{job === null ? '' : <Link href={`/jobs/${job}`}>{job}</Link>}</td>
                <td className="num">{formatReading(node.gpu_utilization?.[gpu], '%')}</td>
                <td className="num">{formatReading(node.gpu_memory?.[gpu], '%')}</td>
                <td className="num">{formatReading(node.gpu_temperature?.[gpu], '°C')}</td>
                <td className="num">{formatReading(node.gpu_power?.[gpu], 'W')}</td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </Panel>
  );
}
