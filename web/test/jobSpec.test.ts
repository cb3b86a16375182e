import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editSpec, emptyForm, hostAsk, newSpec, specToRunAgain, treeToForm } from '../src/lib/jobSpec';

const form = { ...emptyForm, name: 'a', workspace: '/w', entrypoint: 'a.py', nodeCount: 4, grace: '90s', tags: 'x, y', gpusPerNode: 2, cpusPerNode: '16', memoryPerNode: '64Gi', environment: 'A=1\nB=x y', timeout: '12h', isInteractive: true };

describe('form and job file', () => {
  it('come back as they were', () => expect(treeToForm(parse(newSpec(form)) as Record<string, unknown>)).toEqual(form));

  it('leave out what the server assumes anyway', () => {
    expect(parse(newSpec({ ...emptyForm, name: 'a', workspace: '/w', entrypoint: 'a.py' }))).toEqual({
      version: 2,
      name: 'a',
      priority: 'auto',
      spec: { workspace: '/w', entrypoint: 'a.py' },
      resource: { group: 'training', node_count: 1 },
    });
  });

  it('keep what the form does not know, and the comments', () => {
    const yaml = 'name: a # mine\n# twice as many as before\nresource:\n  node_count: 2 # at least\noptions:\n  restart: {max: 2}\n';
    const changed = editSpec(yaml, { nodeCount: 3, tags: 'x, y' });
    expect(changed).toBe(
      'name: a # mine\n# twice as many as before\nresource:\n  node_count: 3 # at least\noptions:\n  restart: { max: 2 }\n  tags:\n    - x\n    - y\n',
    );
  });

  it('write plain words without quotes, and with them what needs them', () => {
    const yaml = newSpec(emptyForm);
    expect(editSpec(yaml, { name: 'a', entrypoint: '7' })).toContain('name: a\n');
    expect(editSpec(yaml, { entrypoint: '7' })).toContain('entrypoint: "7"\n');
  });

  it('take out what is emptied, with the maps that it leaves empty', () => {
    const yaml = 'name: a\noptions:\n  suspend:\n    signal: SIGTERM\n';
    expect(editSpec(yaml, { signal: '' })).toBe('name: a\n');
  });

  it('change variables one by one', () => {
    const yaml = 'spec:\n  environments:\n    A: 1 # mine\n    B: b\n    C: c\n';
    expect(editSpec(yaml, { environment: 'A=1\nexport C=x=y\nD=\nno variable' })).toBe('spec:\n  environments:\n    A: 1 # mine\n    C: x=y\n    D: ""\n');
    expect(editSpec(yaml, { environment: '' })).toBe('{}\n');
    expect(treeToForm(parse(yaml) as Record<string, unknown>).environment).toBe('A=1\nB=b\nC=c');
  });

  it('leave secret values to the file', () => {
    const yaml = 'spec:\n  environments:\n    A: a\n    KEY: { secret: x }\n';
    expect(treeToForm(parse(yaml) as Record<string, unknown>).environment).toBe('A=a');
    expect(editSpec(yaml, { environment: 'A=b' })).toBe('spec:\n  environments:\n    A: b\n    KEY: { secret: x }\n');
    expect(editSpec(yaml, { environment: '' })).toBe('spec:\n  environments:\n    KEY: { secret: x }\n');
  });

  it('make maps where the file has none, or something else', () => {
    expect(parse(editSpec('name: a\nspec: nothing\n', { workspace: '/w', grace: '5s' }))).toEqual({
      name: 'a', spec: { workspace: '/w' }, options: { suspend: { grace: '5s' } },
    });
  });
});

it('runs a job again without what only that run waited for', () => {
  const yaml = 'name: a # mine\noptions:\n  tags: [x]\n  depends_on: [7]\n  begin_at: 2026-11-20T08:00:00Z\n';
  expect(specToRunAgain(yaml)).toBe('name: a # mine\noptions:\n  tags: [ x ]\n');
  expect(specToRunAgain('name: a\n')).toBe('name: a\n');
});

it('knows services in both forms, jobs without GPUs, arrays and images', () => {
  const tree = {
    array: '0-9%2',
    resource: { gpus_per_node: 'none', image: 'box', nodes: 'node-[1-2]', gpu_type: 'h800' },
    services: ['web:80', { name: 'lab', port: 8888, rank: [1], rewrite_uri: false }, { name: 'raw', port: 1, type: 'tcp' }],
  };
  const form = treeToForm(tree);
  expect(form).toMatchObject({ gpusPerNode: -1, array: '0-9%2', image: 'box', nodes: 'node-[1-2]', gpuType: 'h800' });
  expect(form.services).toBe('web:80, lab:8888:keep_path:rank=1, raw:1:tcp');
  const yaml = editSpec('version: 2\n', { gpusPerNode: -1, services: 'web:80 6006', array: '1-3', image: '' });
  expect(yaml).toBe('version: 2\nresource:\n  gpus_per_node: none\nservices:\n  - web:80\n  - "6006"\narray: 1-3\n');
  expect(editSpec(yaml, { gpusPerNode: 0, services: '', array: '' })).toBe('version: 2\n');
});

it('reads what a job file asks of the machine, also in the words of HAI', () => {
  expect(hostAsk('resource: {cpus_per_node: 16, memory_per_node: 64Gi}')).toEqual({ cpus: '16', memory: '64Gi', isInteractive: false });
  expect(hostAsk('options: {override_node_resource: {cpu: 12, memory: 0}}')).toEqual({ cpus: '12', memory: '', isInteractive: false });
  expect(hostAsk('name: a')).toEqual({ cpus: '', memory: '', isInteractive: false });
  expect(hostAsk('name: [')).toBeNull();
  expect(editSpec('resource:\n  cpus_per_node: 16\n  node_count: 1\n', { cpusPerNode: '' })).toBe('resource:\n  node_count: 1\n');
  expect(editSpec('name: a\n', { cpusPerNode: '8', memoryPerNode: '32Gi' })).toBe('name: a\nresource:\n  cpus_per_node: 8\n  memory_per_node: 32Gi\n');
});

it('knows a job that makes room for nobody, in all words that the server reads', () => {
  const yaml = 'name: a\noptions:\n  interactive: True # until Friday\n  timeout: 8h\n';
  expect(hostAsk(yaml)?.isInteractive).toBe(true);
  expect(hostAsk('options: {interactive: "true"}')?.isInteractive).toBe(true);
  expect(hostAsk('options: {interactive: false}')?.isInteractive).toBe(false);
  expect(treeToForm({ options: { interactive: true } }).isInteractive).toBe(true);
  expect(editSpec(yaml, { timeout: '9h' })).toBe('name: a\noptions:\n  interactive: True # until Friday\n  timeout: 9h\n');
  expect(editSpec(yaml, { isInteractive: false })).toBe('name: a\noptions:\n  timeout: 8h\n');
  expect(editSpec('options:\n  interactive: false # not yet\n', { isInteractive: true })).toBe('options:\n  interactive: true # not yet\n');
  expect(specToRunAgain(yaml)).toContain('interactive: True # until Friday\n');
});
