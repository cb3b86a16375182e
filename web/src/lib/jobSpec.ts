import { parseDocument } from 'yaml';

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
  gpusPerNode: number; // 0: whole nodes
  launch: string;
  envStyle: string;
  grace: string;
  signal: string;
  watchdog: string;
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
  launch: 'per_node',
  envStyle: 'hai',
  grace: '60s',
  signal: '',
  watchdog: '',
  tags: '',
  dependsOn: '',
};

type Tree = Record<string, unknown>;
const branch = (tree: Tree, key: string): Tree => {
  const value = tree[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {};
};
const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const text = (value: unknown, standard: string): string => (value === undefined || value === null ? standard : String(value));

// Sets the key, or takes it out if it says only what the server assumes anyway.
function put(tree: Tree, key: string, value: unknown, standard: unknown): void {
  const isStandard = value === standard || (Array.isArray(value) && value.length === 0);
  if (isStandard) delete tree[key];
  else tree[key] = value;
}

export function formToTree(form: JobForm, base: Tree = {}): Tree {
  const spec = { ...branch(base, 'spec'), workspace: form.workspace, entrypoint: form.entrypoint };
  put(spec, 'parameters', form.parameters, '');
  const resource: Tree = { ...branch(base, 'resource'), group: form.group, node_count: form.nodeCount };
  put(resource, 'gpus_per_node', form.gpusPerNode, 0);
  const options: Tree = { ...branch(base, 'options') };
  put(options, 'launch', form.launch, emptyForm.launch);
  put(options, 'env_style', form.envStyle, emptyForm.envStyle);
  const suspend: Tree = { ...branch(options, 'suspend') };
  put(suspend, 'grace', form.grace, emptyForm.grace);
  put(suspend, 'signal', form.signal, '');
  put(options, 'suspend', Object.keys(suspend).length > 0 ? suspend : undefined, undefined);
  put(options, 'watchdog', form.watchdog, '');
  put(options, 'tags', words(form.tags), undefined);
  put(options, 'depends_on', words(form.dependsOn), undefined);
  const tree: Tree = { ...base, version: 2, name: form.name, priority: form.priority, spec, resource };
  if (Object.keys(options).length > 0) tree.options = options;
  else delete tree.options;
  return tree;
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
    gpusPerNode: Number(resource.gpus_per_node ?? 0),
    launch: text(options.launch, emptyForm.launch),
    envStyle: text(options.env_style, emptyForm.envStyle),
    grace: text(suspend.grace, emptyForm.grace),
    signal: text(suspend.signal, ''),
    watchdog: text(options.watchdog, ''),
    tags: list(options.tags),
    dependsOn: list(options.depends_on),
  };
}

// A job file with its dependencies and its time to begin taken out, the rest as it was written.
export function specToRunAgain(yaml: string): string {
  const document = parseDocument(yaml);
  for (const key of ['depends_on', 'begin_at']) if (document.hasIn(['options', key])) document.deleteIn(['options', key]);
  return document.toString({ lineWidth: 0 });
}
