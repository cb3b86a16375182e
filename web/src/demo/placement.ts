import type { Node } from '../api/types';

// As the scheduler does it: on one leaf if it fits, the fullest such; else on the fewest leaves of one
// zone; never across zones. Ranks are numbered leaf by leaf. `free`: nodes that could take a rank.
export function placeTogether(free: readonly Node[], count: number): Node[] | null {
  const zones = groupBy(free, (node) => node.zone);
  const choices = [...zones.values()].flatMap((nodes) => fewestLeaves(nodes, count) ?? []);
  const best = choices.sort((a, b) => a.leaves - b.leaves || a.left - b.left)[0];
  return best?.nodes ?? null;
}

interface Choice {
  nodes: Node[];
  leaves: number;
  left: number; // free nodes that stay on its last leaf
}

function fewestLeaves(free: readonly Node[], count: number): Choice | null {
  if (free.length < count) return null;
  const leaves = [...groupBy(free, (node) => node.leaf).values()].sort((a, b) => b.length - a.length);
  const nodes: Node[] = [];
  for (let used = 0; ; used += 1) {
    const missing = count - nodes.length;
    // The last leaf is the one that it fills best.
    const last = leaves.slice(used).findLast((leaf) => leaf.length >= missing);
    if (last) return { nodes: [...nodes, ...last.slice(0, missing)], leaves: used + 1, left: last.length - missing };
    nodes.push(...leaves[used]!);
  }
}

function groupBy(nodes: readonly Node[], key: (node: Node) => string): Map<string, Node[]> {
  const groups = new Map<string, Node[]>();
  for (const node of nodes) {
    const group = groups.get(key(node));
    if (group) group.push(node);
    else groups.set(key(node), [node]);
  }
  return groups;
}
