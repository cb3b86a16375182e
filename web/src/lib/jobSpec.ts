import { type Document, isMap, isScalar, parse, parseDocument } from 'yaml';

// The form of the submit page and the YAML of a job file, both ways. What the form does not know stays
// in the YAML as it is: switching to and fro must lose nothing.
export interface JobForm {
  name: string;
  priority: string;
  workspace: string;
  entrypoint: string;
  parameters: string;
  group: string;
  nodeCount: number;
  gpusPerNode: number; // 0: whole nodes, -1: none
  array: string;
  image: string;
  nodes: string;
  gpuType: string;
  cpusPerNode: string; // '' = in proportion to the GPUs
  memoryPerNode: string; // 64Gi
  services: string;
  launch: string;
  envStyle: string;
  grace: string;
  signal: string;
  watchdog: string;
  timeout: string;
  isInteractive: boolean;
  environment: string; // NAME=value, one a line
  tags: string;
  dependsOn: string;
}

export const emptyForm: JobForm = {
  name: '',
  priority: 'auto',
  workspace: '',
  entrypoint: '',
  parameters: '',
  group: 'training',
  nodeCount: 1,
  gpusPerNode: 0,
  array: '',
  image: '',
  nodes: '',
  gpuType: '',
  cpusPerNode: '',
  memoryPerNode: '',
  services: '',
  launch: 'per_node',
  envStyle: 'hai',
  grace: '60s',
  signal: '',
  watchdog: '',
  timeout: '',
  isInteractive: false,
  environment: '',
  tags: '',
  dependsOn: '',
};

// NAME=value lines; what is no such line is left out.
export function variables(lines: string): Map<string, string> {
  const all = new Map<string, string>();
  for (const line of lines.split('\n')) {
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(line);
    if (match) all.set(match[1]!, match[2]!);
  }
  return all;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const branch = (tree: Tree, key: string): Tree => {
  const value = tree[key];
  return isTree(value) ? value : {};
};
export const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const text = (value: unknown, standard: string): string => (value === undefined || value === null ? standard : String(value));

// A service as the form has it, also of a mapping as HAI writes it.
function serviceText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return text(value, '');
  const { name, port, type, rank, rewrite_uri: rewrites } = value as Record<string, unknown>;
  const number = Number(Array.isArray(rank) ? rank[0] : (rank ?? 0));
  return `${text(name, '')}:${text(port, '')}${type === 'tcp' ? ':tcp' : ''}${rewrites === false ? ':keep_path' : ''}${number > 0 ? `:rank=${number}` : ''}`;
}

// Of HAI's names, too; 0 is what nobody asked for.
function hostFields(tree: Tree): Pick<JobForm, 'cpusPerNode' | 'memoryPerNode'> {
  const resource = branch(tree, 'resource');
  const old = branch(branch(tree, 'options'), 'override_node_resource');
  return { cpusPerNode: text(resource.cpus_per_node ?? old.cpu, ''), memoryPerNode: text(resource.memory_per_node ?? old.memory, '') };
}

// Also in quotes, as the server reads it.
const isTrue = (value: unknown): boolean => /^(true|True|TRUE)$/.test(text(value, ''));

export interface HostAsk {
  cpus: string; // '' = nothing
  memory: string;
  isInteractive: boolean;
}

// What only a job file tells of what a job asks of its nodes; null: it can't be read.
export function hostAsk(yaml: string): HostAsk | null {
  try {
    const tree: unknown = parse(yaml);
    if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return null;
    const { cpusPerNode, memoryPerNode } = hostFields(tree as Tree);
    return { cpus: cpusPerNode === '0' ? '' : cpusPerNode, memory: memoryPerNode === '0' ? '' : memoryPerNode, isInteractive: isTrue(branch(tree as Tree, 'options').interactive) };
  } catch {
    return null;
  }
}

export function treeToForm(tree: Tree): JobForm {
  const [spec, resource, options] = [branch(tree, 'spec'), branch(tree, 'resource'), branch(tree, 'options')];
  const suspend = branch(options, 'suspend');
  const list = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : text(value, ''));
  return {
    name: text(tree.name, ''),
    priority: text(tree.priority, 'auto'),
    workspace: text(spec.workspace, ''),
    entrypoint: text(spec.entrypoint, ''),
    parameters: text(spec.parameters, ''),
    group: text(resource.group, 'training'),
    nodeCount: Number(resource.node_count ?? 1),
    gpusPerNode: resource.gpus_per_node === 'none' ? -1 : Number(resource.gpus_per_node ?? 0),
    array: text(tree.array, ''),
    image: text(resource.image, ''),
    nodes: text(resource.nodes, ''),
    gpuType: text(resource.gpu_type, ''),
    ...hostFields(tree),
    services: Array.isArray(tree.services) ? tree.services.map(serviceText).join(', ') : text(tree.services, ''),
    launch: text(options.launch, emptyForm.launch),
    envStyle: text(options.env_style, emptyForm.envStyle),
    grace: text(suspend.grace, emptyForm.grace),
    signal: text(suspend.signal, ''),
    watchdog: text(options.watchdog, ''),
    timeout: text(options.timeout, ''),
    isInteractive: isTrue(options.interactive),
    // `{secret: VALUE}` is for the file: the form neither shows nor changes it.
    environment: Object.entries(branch(spec, 'environments')).filter(([, value]) => !isTree(value)).map(([name, value]) => `${name}=${text(value, '')}`).join('\n'),
    tags: list(options.tags),
    dependsOn: list(options.depends_on),
  };
}

// Where each field of the form stands in the file, and what the server assumes without it.
const places: Record<Exclude<keyof JobForm, 'environment'>, { path: string[]; standard?: unknown; isList?: boolean }> = {
  name: { path: ['name'] },
  priority: { path: ['priority'] },
  workspace: { path: ['spec', 'workspace'] },
  entrypoint: { path: ['spec', 'entrypoint'] },
  parameters: { path: ['spec', 'parameters'], standard: '' },
  group: { path: ['resource', 'group'] },
  nodeCount: { path: ['resource', 'node_count'] },
  gpusPerNode: { path: ['resource', 'gpus_per_node'], standard: 0 },
  array: { path: ['array'], standard: '' },
  image: { path: ['resource', 'image'], standard: '' },
  nodes: { path: ['resource', 'nodes'], standard: '' },
  gpuType: { path: ['resource', 'gpu_type'], standard: '' },
  cpusPerNode: { path: ['resource', 'cpus_per_node'], standard: '' },
  memoryPerNode: { path: ['resource', 'memory_per_node'], standard: '' },
  services: { path: ['services'], standard: '', isList: true },
  launch: { path: ['options', 'launch'], standard: emptyForm.launch },
  envStyle: { path: ['options', 'env_style'], standard: emptyForm.envStyle },
  grace: { path: ['options', 'suspend', 'grace'], standard: emptyForm.grace },
  signal: { path: ['options', 'suspend', 'signal'], standard: '' },
  watchdog: { path: ['options', 'watchdog'], standard: '' },
  timeout: { path: ['options', 'timeout'], standard: '' },
  isInteractive: { path: ['options', 'interactive'], standard: false },
  tags: { path: ['options', 'tags'], standard: '', isList: true },
  dependsOn: { path: ['options', 'depends_on'], standard: '', isList: true },
};

// The job file with some fields of the form changed: what was not changed stays as it was written, with
// its comments. The text must be YAML that can be read.
export function editSpec(yaml: string, part: Partial<JobForm>): string {
  const document = parseDocument(yaml);
  for (const [key, value] of Object.entries(part)) {
    if (key === 'environment') {
      placeVariables(document, variables(String(value)));
      continue;
    }
    const { path, standard, isList } = places[key as keyof typeof places];
    if (value === standard || (isList && words(String(value)).length === 0)) remove(document, path);
    else if (key === 'gpusPerNode' && value === -1) place(document, path, 'none');
    else if (key === 'cpusPerNode' && /^\d+$/.test(String(value))) place(document, path, Number(value));
    else place(document, path, isList ? words(String(value)) : value);
  }
  return document.toString({ lineWidth: 0 });
}

export const newSpec = (form: JobForm): string => editSpec('version: 2\n', form);

// Maps that are missing, or are something else, are made on the way.
function place(document: Document, path: string[], value: unknown): void {
  for (let depth = 1; depth < path.length; depth += 1) {
    const above = path.slice(0, depth);
    if (!isMap(document.getIn(above))) document.setIn(above, document.createNode({}));
  }
  // Quotes that the old value needed are not those of the new one.
  const old = document.getIn(path, true);
  if (isScalar(old)) delete old.type;
  document.setIn(path, Array.isArray(value) ? document.createNode(value) : value);
}

// Each by itself: the comments of those that stay are kept.
function placeVariables(document: Document, wanted: Map<string, string>): void {
  const path = ['spec', 'environments'];
  const there = document.getIn(path);
  for (const item of isMap(there) ? [...there.items] : []) {
    const name = String(isScalar(item.key) ? item.key.value : item.key);
    if (!wanted.has(name) && !isMap(item.value)) remove(document, [...path, name]);
  }
  for (const [name, value] of wanted) {
    const old = document.getIn([...path, name]);
    if (old === undefined || String(old) !== value) place(document, [...path, name], value);
  }
}

// With the maps that it leaves empty.
function remove(document: Document, path: string[]): void {
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  const above = document.getIn(path.slice(0, -1));
  if (path.length > 1 && isMap(above) && above.items.length === 0) remove(document, path.slice(0, -1));
}

// A job file with its dependencies and its time to begin taken out, the rest as it was written.
export function specToRunAgain(yaml: string): string {
  const document = parseDocument(yaml);
  for (const key of ['depends_on', 'begin_at']) if (document.hasIn(['options', key])) document.deleteIn(['options', key]);
  return document.toString({ lineWidth: 0 });
}
