import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { preview, type PreviewServer } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    url: string;
    token: string;
    bin: string;
    home: string;
    cluster: string;
  }
}

// A dev cluster of its own (HAI_BIN: the folder of the programs) and the built dashboard before it.
// HAI_WEB=server takes the dashboard that hai-server itself serves.
const bin = resolve(process.env.HAI_BIN ?? join(import.meta.dirname, '../../build/release/bin'));
const devMs = 120_000; // a cluster comes up in seconds
const name = `web-e2e-${process.pid}`;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), 'hai-web-'));
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const data = join(home, 'data');
  const dev = (verb: string, ...args: string[]): string =>
    execFileSync(join(bin, 'hai'), ['dev', verb, '--name', name, '--data', data, ...args], { env, encoding: 'utf8', timeout: devMs });
  dev('up', '--nodes', '4', '--knob', 'min_quantum=1s');
  const { http } = JSON.parse(dev('status', '-o', 'json')) as { http: string };
  process.env.NODE_EXTRA_CA_CERTS = join(data, 'ca/ca.crt'); // read by the workers, which start later
  let site: PreviewServer | null = null;
  let url = http;
  if (process.env.HAI_WEB !== 'server') {
    process.env.HAI_URL = http;
    site = await preview({
      root: join(import.meta.dirname, '..'),
      preview: { port: 0, host: '127.0.0.1', proxy: { '/api': { target: http, secure: false, ws: true } } },
      logLevel: 'error',
    });
    const address = site.httpServer.address();
    if (typeof address !== 'object' || address === null) throw new Error('the preview has no address');
    url = `http://127.0.0.1:${address.port}`;
  }
  project.provide('url', url);
  project.provide('token', readFileSync(join(data, 'admin.token'), 'utf8').trim());
  project.provide('bin', bin);
  project.provide('home', home);
  project.provide('cluster', name);
  return async () => {
    await site?.close();
    dev('down', '--purge');
    rmSync(home, { recursive: true, force: true });
  };
}
