import { type JobState, jobStates } from '../../api/types';
import { useWhoAmI } from '../../api/queries';
import { Menu } from '../../components/Menu';
import { formatWord } from '../../lib/format';
import { type GroupKey, groupKeys, type JobFilter } from '../../lib/jobFilter';

interface Props {
  filter: JobFilter;
  users: string[];
  groups: string[];
  onChange: (change: Partial<JobFilter>) => void;
}

export function FilterBar({ filter, users, groups, onChange }: Props) {
  const me = useWhoAmI().data?.user;
  const toggle = (state: JobState): void => {
    const has = filter.states.includes(state);
    onChange({ states: has ? filter.states.filter((each) => each !== state) : [...filter.states, state] });
  };
  return (
    <>
      <input
        className="input"
        style={{ width: '12rem' }}
        data-search
        placeholder="Filter name, user, id"
        aria-label="filter the loaded jobs"
        value={filter.text}
        onChange={(event) => onChange({ text: event.target.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <span className="row wrap" role="group" aria-label="states" style={{ gap: 2 }}>
        {jobStates.map((state) => (
          <button key={state} className="button small" aria-pressed={filter.states.includes(state)} onClick={() => toggle(state)}>
            {state}
          </button>
        ))}
      </span>
      <Choice title="user" value={filter.user} options={users} extra={me ? { label: `mine (${me})`, value: me } : null} onPick={(user) => onChange({ user })} />
      <Choice title="group" value={filter.group} options={groups} onPick={(group) => onChange({ group })} />
      {filter.priority !== '' && <Chip text={`priority ${formatWord(filter.priority)}`} onClear={() => onChange({ priority: '' })} />}
      {filter.tag !== '' && <Chip text={`tag ${filter.tag}`} onClear={() => onChange({ tag: '' })} />}
      {filter.reason !== '' && <Chip text={`waits for ${formatWord(filter.reason)}`} onClear={() => onChange({ reason: '' })} />}
      {filter.array !== '' && <Chip text={`tasks of array ${filter.array}`} onClear={() => onChange({ array: '' })} />}
      <label className="row dim" style={{ fontSize: 'var(--text-s)' }}>
        group by
        <select
          className="select small"
          aria-label="group by"
          style={{ width: 'auto' }}
          value={filter.groupBy ?? ''}
          onChange={(event) => onChange({ groupBy: (event.target.value || null) as GroupKey | null })}
        >
          <option value="">nothing</option>
          {groupKeys.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
    </>
  );
}

function Chip({ text, onClear }: { text: string; onClear: () => void }) {
  return (
    <button className="button small" aria-pressed="true" onClick={onClear} title="remove this filter">
      {text} ×
    </button>
  );
}

function Choice({ title, value, options, extra = null, onPick }: {
  title: string;
  value: string;
  options: string[];
  extra?: { label: string; value: string } | null;
  onPick: (value: string) => void;
}) {
  return (
    <Menu
      trigger={
        <button className="button small" aria-pressed={value !== ''}>
          {value === '' ? `any ${title}` : `${title} ${value}`} ▾
        </button>
      }
      items={[
        { label: `any ${title}`, onSelect: () => onPick('') },
        extra && { label: extra.label, onSelect: () => onPick(extra.value) },
        ...options.map((option) => ({ label: option, onSelect: () => onPick(option) })),
      ].filter((item, i) => item !== null || i !== 1)}
    />
  );
}
