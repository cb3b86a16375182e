import { describe, expect, it } from 'vitest';
import { emptyForm, formToTree, specToRunAgain, treeToForm } from '../src/lib/jobSpec';

const form = { ...emptyForm, name: 'a', workspace: '/w', entrypoint: 'a.py', nodeCount: 4, grace: '90s', tags: 'x, y', gpusPerNode: 2 };

describe('form and job file', () => {
  it('come back as they were', () => expect(treeToForm(formToTree(form))).toEqual(form));

  it('leave out what the server assumes anyway', () => {
    expect(formToTree({ ...emptyForm, name: 'a', workspace: '/w', entrypoint: 'a.py' })).toEqual({
      version: 2,
      name: 'a',
      priority: 'auto',
      spec: { workspace: '/w', entrypoint: 'a.py' },
      resource: { group: 'training', node_count: 1 },
    });
  });

  it('keep what the form does not know', () => {
    const base = { version: 2, spec: { environments: { A: '1' } }, options: { restart: { max: 2 }, suspend: { exit_code: 9 } } };
    expect(formToTree(form, base)).toMatchObject({
      spec: { environments: { A: '1' } },
      options: { restart: { max: 2 }, suspend: { exit_code: 9, grace: '90s' } },
    });
  });
});

it('runs a job again without what only that run waited for', () => {
  const yaml = 'name: a # mine\noptions:\n  tags: [x]\n  depends_on: [7]\n  begin_at: 2026-11-20T08:00:00Z\n';
  expect(specToRunAgain(yaml)).toBe('name: a # mine\noptions:\n  tags: [ x ]\n');
  expect(specToRunAgain('name: a\n')).toBe('name: a\n');
});
