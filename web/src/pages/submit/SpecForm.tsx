import { priorities } from '../../api/types';
import { formatWord } from '../../lib/format';
import { TypedArea, TypedInput } from '../../components/TypedInput';
import { type JobForm, variables, words } from '../../lib/jobSpec';

interface Props {
  form: JobForm;
  groups: string[];
  onChange: (part: Partial<JobForm>) => void;
}

const sameVariables = (a: string, b: string): boolean => [...variables(a)].join('\n') === [...variables(b)].join('\n');

export function SpecForm({ form, groups, onChange }: Props) {
  const text = (key: keyof JobForm, title: string, width = '', hint = '', isMono = false) => (
    <label className={`field ${width}`}>
      {title}
      <input
        className={isMono ? 'input mono' : 'input'}
        value={String(form[key])}
        placeholder={hint}
        onChange={(event) => onChange({ [key]: event.target.value })}
      />
    </label>
  );
  const list = (key: 'tags' | 'dependsOn' | 'services', title: string, width: string, hint: string) => (
    <label className={`field ${width}`}>
      {title}
      <TypedInput
        className="input"
        value={form[key]}
        isSame={(typed) => words(typed).join() === words(form[key]).join()}
        placeholder={hint}
        onType={(typed) => onChange({ [key]: typed })}
      />
    </label>
  );
  // What the job file has is shown even where it is none of the usual ones, and not as the first of them.
  const choice = (key: keyof JobForm, title: string, options: [value: string | number, label: string][]) => (
    <label className="field">
      {title}
      <select
        className="select"
        value={String(form[key])}
        onChange={(event) => onChange({ [key]: typeof form[key] === 'number' ? Number(event.target.value) : event.target.value })}
      >
        {(options.some(([value]) => String(value) === String(form[key])) ? options : [...options, [String(form[key]), String(form[key])] as const]).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
  const groupList = [...new Set([...groups, form.group])];
  return (
    <div className="form-grid">
      {text('name', 'Name', 'w2', 'unique among your unfinished jobs')}
      {choice('priority', 'Priority', priorities.map((each) => [each, formatWord(each)]))}
      {choice('group', 'Group of nodes', groupList.map((each) => [each, each]))}
      {text('workspace', 'Workspace', 'w4', '/data/ann/llm: the working directory', true)}
      {text('entrypoint', 'Entrypoint', 'w2', 'train.py, run.sh or a program', true)}
      {text('parameters', 'Parameters', 'w2', '--config 7b.yaml', true)}
      <label className="field">
        Nodes
        <TypedInput
          className="input"
          type="number"
          min={1}
          value={String(form.nodeCount)}
          isSame={(typed) => Number(typed) === form.nodeCount}
          onType={(typed) => onChange({ nodeCount: Number(typed) })}
        />
      </label>
      {choice('gpusPerNode', 'GPUs of each', [[0, 'whole node'], [1, '1'], [2, '2'], [4, '4'], [8, '8'], [-1, 'none']])}
      {text('cpusPerNode', 'CPUs of each', '', form.gpusPerNode === -1 ? '1' : form.gpusPerNode === 0 ? 'all' : 'by its GPUs')}
      {text('memoryPerNode', 'Memory of each', '', form.gpusPerNode === -1 ? 'by its CPUs: 64Gi' : form.gpusPerNode === 0 ? 'all' : 'by its GPUs: 64Gi')}
      {text('gpuType', 'Type of GPU', '', 'any: h800')}
      {text('nodes', 'Only on', '', 'any: node-[1-8]', true)}
      {text('array', 'Array', '', 'one job: 0-499%20')}
      {list('tags', 'Tags', '', 'paper, nightly')}
      {text('image', 'Container image', 'w2', 'none: team/image:1, oci:/data/image', true)}
      {list('services', 'Services', 'w2', 'jupyter:8888:keep_path, 6006')}
      {choice('launch', 'Start once per', [['per_node', 'node'], ['per_gpu', 'GPU']])}
      {choice('envStyle', 'Names for ranks', [['hai', 'hai'], ['torch', 'torch'], ['slurm', 'slurm']])}
      {text('grace', 'Time to save', '', '60s')}
      {text('signal', 'Suspend signal', '', 'SIGTERM: USR1, none')}
      {text('watchdog', 'Hang after', '', '30m')}
      {text('timeout', 'Time limit', '', 'none: 12h')}
      <label className="field w2">
        Interactive
        <select className="select" value={String(form.isInteractive)} onChange={(event) => onChange({ isInteractive: event.target.value === 'true' })}>
          <option value="false">no: makes room for others</option>
          <option value="true">yes: makes room for nobody once it runs</option>
        </select>
      </label>
      <label className="field w4">
        Environment
        <TypedArea
          aria-label="Environment"
          className="area mono"
          rows={3}
          spellCheck={false}
          value={form.environment}
          isSame={(typed) => sameVariables(typed, form.environment)}
          placeholder="NCCL_DEBUG=INFO, one a line"
          onType={(typed) => onChange({ environment: typed })}
        />
      </label>
      {list('dependsOn', 'Starts after', 'w4', 'jobs that must succeed first; or afterany:JOB, afternotok:JOB, after:JOB, aftercorr:ARRAY, singleton')}
    </div>
  );
}
