import { useCallback, useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useNodes } from '../api/queries';
import type { Node } from '../api/types';
import { Badge } from '../components/Badge';
import { type Brief, type Column, GridTable } from '../components/GridTable';
import { NodeActions } from '../components/NodeActions';
import { Reason, useLivenessEvents } from '../components/Reason';
import { Empty, Failure, Loading } from '../components/states';
import { formatBytes, formatCount, formatPlural, formatTime } from '../lib/format';
import { gpusUsed } from '../lib/gpuOwners';
import { atLeast, healthOf } from '../lib/silence';
import { formatNodeFilter, type NodeFilter, parseNodeFilter, selectNodes } from '../lib/nodeFilter';
import { useKept, useKeptSet } from '../lib/useKept';
import { useTitle } from '../lib/useTitle';

const noNodes: readonly Node[] = [];
const livenessWords = ['up', 'suspect', 'down'];
const schedulingWords = ['open', 'cordoned', 'draining', 'drained'];

const columns: Column<Node>[] = [
  { key: 'name', title: 'name', width: 'minmax(8rem, 1fr)', isSortable: true, render: (node) => <Link href={`/nodes/${encodeURIComponent(node.name)}`}>{node.name}</Link> },
  { key: 'group', title: 'group', width: '6rem', isSortable: true, render: (node) => node.group },
  { key: 'zone', title: 'zone', width: '3.5rem', isSortable: true, render: (node) => node.zone },
  { key: 'leaf', title: 'leaf', width: '5.5rem', isSortable: true, render: (node) => node.leaf },
  { key: 'liveness', title: 'liveness', width: '6rem', isSortable: true, render: (node) => <Badge word={node.liveness} /> },
  { key: 'scheduling', title: 'scheduling', width: '7rem', isSortable: true, render: (node) => <Badge word={node.scheduling} /> },
  { key: 'health', title: 'health', width: '6rem', isSortable: true, render: (node) => <Badge word={healthOf(node)} /> },
  { key: 'gpus_free', title: 'GPUs', width: '7rem', isSortable: true, render: (node) => <Gpus node={node} /> },
  { key: 'jobs', title: 'jobs', width: '7rem', render: (node) => node.jobs.map((id) => <Link key={id} href={`/jobs/${id}`} className="mono">{id} </Link>) },
  { key: 'memory_bytes', title: 'memory', width: '5.5rem', isNumber: true, isSortable: true, render: (node) => formatBytes(node.memory_bytes) },
  { key: 'gpu_model', title: 'GPU', width: 'minmax(7.5rem, 0.7fr)', isSortable: true, render: (node) => node.gpu_model },
];

const firstColumns = ['select', 'name', 'liveness', 'scheduling'];

const reasonColumn = (eventsOf: ReturnType<typeof useLivenessEvents>): Column<Node> => ({
  key: 'reason',
  title: 'reason',
  width: 'minmax(8rem, 2fr)',
  isSortable: true,
  render: (node) =>
    node.reason !== null && (
      <span className="dim" title={atLeast(node.reason)}>
        <Reason node={node} events={eventsOf(node.name)} />
        {node.reason_by && ` (${node.reason_by})`}
        {node.drain_at && `, drained by ${formatTime(node.drain_at, Date.now())}`}
      </span>
    ),
});

// On a phone: where it is and how full, or why it is not open.
const nodeBrief = (eventsOf: ReturnType<typeof useLivenessEvents>): Brief<Node> => ({
  lines: 1,
  render: (node) => (
    <span>
      {node.reason !== null ? <Reason node={node} events={eventsOf(node.name)} /> : `${node.leaf} of ${node.zone} · ${gpusUsed(node)} of ${node.gpus} GPUs in use · ${formatPlural(node.jobs.length, 'job')}`}
    </span>
  ),
});

function Gpus({ node }: { node: Node }) {
  const used = gpusUsed(node);
  const rest = node.liveness !== 'up' ? 'lost' : node.scheduling !== 'open' ? 'gpu-draining' : 'gpu-free';
  const said = `${used} of ${node.gpus} GPUs in use${rest === 'lost' ? ' when it was last heard' : rest === 'gpu-draining' ? ', closed' : ''}`;
  return (
    <span className="row" style={{ gap: 2 }} title={said} role="img" aria-label={said}>
      {Array.from({ length: node.gpus }, (_, gpu) => (
        <i key={gpu} style={{ width: '0.5rem', height: '0.8rem', borderRadius: 1, background: `var(--${gpu < used && rest !== 'lost' ? 'gpu-used' : rest})` }} />
      ))}
    </span>
  );
}

export default function NodesPage() {
  useTitle('Nodes');
  const search = useSearch();
  const [, go] = useLocation();
  const filter = useMemo(() => parseNodeFilter(search), [search]);
  const nodes = useNodes();
  const rows = useMemo(() => selectNodes(nodes.data ?? [], filter), [nodes.data, filter]);
  const [active, setActive] = useKept('active', -1);
  const { all: selected, setAll: setSelected, toggle: toggleName } = useKeptSet<string>('selected');
  const change = (part: Partial<NodeFilter>): void => {
    const next = formatNodeFilter({ ...filter, ...part });
    go(next === '' ? '/nodes' : `/nodes?${next}`, { replace: true, state: history.state as unknown });
  };
  const toggle = useCallback((node: Node) => toggleName(node.name), [toggleName]);
  const eventsOf = useLivenessEvents(nodes.data ?? noNodes);
  const withBoxes = useMemo(() => [selectColumn(selected, toggle), ...columns, reasonColumn(eventsOf)], [selected, toggle, eventsOf]);
  const brief = useMemo(() => nodeBrief(eventsOf), [eventsOf]);
  const chosen = (nodes.data ?? []).filter((node) => selected.has(node.name));
  return (
    <>
      <div className="page-head">
        <h1>Nodes</h1>
        {chosen.length > 0 ? (
          <>
            <span className="dim">{formatCount(chosen.length)} selected</span>
            <NodeActions nodes={chosen} onDone={() => setSelected(new Set())} />
            <button className="button quiet" onClick={() => setSelected(new Set())}>Clear</button>
          </>
        ) : (
          <>
            <input className="input" style={{ width: '14rem' }} data-search placeholder="Filter name, leaf, reason" aria-label="filter nodes" value={filter.text} onChange={(event) => change({ text: event.target.value })} />
            <Words words={['not_up', ...livenessWords]} value={filter.liveness} onPick={(liveness) => change({ liveness })} />
            <Words words={['closed', ...schedulingWords]} value={filter.scheduling} onPick={(scheduling) => change({ scheduling })} />
          </>
        )}
        <span className="grow" />
        {nodes.data && <span className="dim">{formatPlural(rows.length, 'node')}</span>}
      </div>
      {nodes.error && <Failure error={nodes.error} />}
      {!nodes.data ? (
        !nodes.error && <Loading lines={10} />
      ) : (
        <GridTable<Node>
          label="nodes"
          columns={withBoxes}
          first={firstColumns}
          brief={brief}
          rows={rows}
          rowKey={(node) => node.name}
          sort={{ key: filter.sort, descending: filter.descending }}
          onSort={(key) => change(filter.sort === key ? { descending: !filter.descending } : { sort: key, descending: false })}
          active={active}
          onActive={setActive}
          onOpen={(node) => go(`/nodes/${encodeURIComponent(node.name)}`)}
          isSelected={(node) => selected.has(node.name)}
          onToggle={toggle}
          empty={<Empty title="No node matches" />}
        />
      )}
    </>
  );
}

const selectColumn = (selected: ReadonlySet<string>, toggle: (node: Node) => void): Column<Node> => ({
  key: 'select',
  title: '',
  width: '1.3rem',
  render: (node) => (
    <input type="checkbox" tabIndex={-1} aria-label={`select ${node.name}`} checked={selected.has(node.name)} onChange={() => toggle(node)} />
  ),
});

function Words({ words, value, onPick }: { words: string[]; value: string; onPick: (word: string) => void }) {
  return (
    <span className="row wrap" style={{ gap: 2 }} role="group">
      {words.map((word) => (
        <button key={word} className="button small" aria-pressed={value === word} onClick={() => onPick(value === word ? '' : word)}>
          {word.replace('_', ' ')}
        </button>
      ))}
    </span>
  );
}
