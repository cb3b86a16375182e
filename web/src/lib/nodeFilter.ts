import type { Node } from '../api/types';

// The nodes page keeps all nodes in memory, so everything is filtered here.
export interface NodeFilter {
  text: string;
  liveness: string; // '' any, not_up, or a word
  scheduling: string; // '' any, closed, or a word
  sort: string;
  descending: boolean;
}

export function parseNodeFilter(search: string): NodeFilter {
  const query = new URLSearchParams(search);
  return {
    text: query.get('q') ?? '',
    liveness: query.get('liveness') ?? '',
    scheduling: query.get('scheduling') ?? '',
    sort: query.get('sort') ?? 'name',
    descending: query.get('order') === 'desc',
  };
}

export function formatNodeFilter(filter: NodeFilter): string {
  const query = new URLSearchParams();
  if (filter.text !== '') query.set('q', filter.text);
  if (filter.liveness !== '') query.set('liveness', filter.liveness);
  if (filter.scheduling !== '') query.set('scheduling', filter.scheduling);
  if (filter.sort !== 'name') query.set('sort', filter.sort);
  if (filter.descending) query.set('order', 'desc');
  return query.toString();
}

function matches(node: Node, filter: NodeFilter): boolean {
  if (filter.liveness === 'not_up' ? node.liveness === 'up' : filter.liveness !== '' && node.liveness !== filter.liveness) return false;
  if (filter.scheduling === 'closed' ? node.scheduling === 'open' : filter.scheduling !== '' && node.scheduling !== filter.scheduling) return false;
  const text = filter.text.toLowerCase();
  if (text === '') return true;
  return [node.name, node.group, node.leaf, node.reason ?? '', node.gpu_model].some((each) => each.toLowerCase().includes(text));
}

const sortValue = (node: Node, key: string): string | number => {
  const value = node[key as keyof Node];
  if (Array.isArray(value)) return value.length;
  return typeof value === 'number' ? value : String(value ?? '');
};

export function selectNodes(nodes: readonly Node[], filter: NodeFilter): Node[] {
  const sign = filter.descending ? -1 : 1;
  return nodes
    .filter((node) => matches(node, filter))
    .sort((a, b) => {
      const [x, y] = [sortValue(a, filter.sort), sortValue(b, filter.sort)];
      const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
      return sign * order || a.name.localeCompare(b.name, 'en', { numeric: true });
    });
}
