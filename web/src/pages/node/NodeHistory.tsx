import { useState } from 'react';
import { useNodeEvents } from '../../api/queries';
import type { Node } from '../../api/types';
import { EventFeed } from '../../components/EventFeed';
import { Panel } from '../../components/Panel';
import { Await } from '../../components/states';

const kinds: [title: string, kinds: readonly string[]][] = [
  ['everything', []],
  ['health', ['node_check_changed', 'node_check_handled', 'node_marked', 'node_repair_changed', 'node_validated']],
  ['open or not', ['node_scheduling_changed', 'node_liveness_changed', 'node_registered']],
  ['jobs', ['attempt_placed', 'attempt_ended']],
];

// How its checks came and went, who closed it and why, what was placed there.
export function NodeHistory({ node }: { node: Node }) {
  const [chosen, setChosen] = useState(0);
  const events = useNodeEvents(node.name, kinds[chosen]![1], node.jobs);
  const choice = (
    <span className="row wrap" style={{ gap: 2 }} role="group" aria-label="kinds of events">
      {kinds.map(([title], i) => (
        <button key={title} className="button small" aria-pressed={i === chosen} onClick={() => setChosen(i)}>
          {title}
        </button>
      ))}
    </span>
  );
  return (
    <Panel title="History" aside={choice}>
      <Await answer={events}>{(list) => <EventFeed events={list} about={`node/${node.name}`} />}</Await>
    </Panel>
  );
}
