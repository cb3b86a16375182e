import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { extname, join } from 'node:path';
import type { Transport } from '../src/api/client';
import { createDemo } from '../src/demo/transport';

// The built dashboard, and the demo's world behind real connections: a server that a test can freeze,
// kill, slow down and upgrade, without a cluster.
const dist = process.env.HAI_WEB_ROOT ?? join(import.meta.dirname, '../dist');
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

export interface Asked {
  method: string;
  path: string;
}

// Made when it is first asked, because that takes seconds. No job ends and no list changes while a test looks at it. Its logs
// are short, because axe looks at each line of them.
let made: Transport | null = null;
const world = (): Transport => (made ??= createDemo({ jobs: 3_000, isStill: true, logLinesMax: 150 }));

const ann = { user: 'ann', role: 'admin' };

const shortMax = 12;
const shorten = (path: string): string => (path.startsWith('/api/v1/queue?') ? path.replace(/limit=\d+/, `limit=${shortMax}`) : path);

export class StandIn {
  readonly asked: Asked[] = [];
  readonly openStreams = new Set<string>();
  user = ann;
  staleSince: string | null = null;
  // The first of what waits alone: axe looks at all that a page shows, and the rows are alike.
  hasShortQueue = false;
  // Instead of the world's answer, when it gives one.
  override: (asked: Asked, body: string) => Response | null = () => null;
  // Answers whose connection is dead while all others live: nothing comes over it any more.
  isDead: (path: string) => boolean = () => false;
  isAsset: (path: string) => boolean = () => true;
  url = '';
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private thawed: Promise<void> = Promise.resolve();
  private thawNow: () => void = () => undefined;

  constructor() {
    if (!existsSync(join(dist, 'index.html'))) throw new Error(`there is no dashboard in ${dist}: npm run build makes dist/`);
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.server = server;
  }

  // As SIGSTOP does it: connections stay and are accepted, nothing is answered any more.
  freeze(): void {
    this.thawed = new Promise((resolve) => (this.thawNow = resolve));
  }

  thaw(): void {
    this.thawNow();
  }

  async kill(): Promise<void> {
    this.thaw();
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
    this.server = null;
  }

  // As it was, whatever a test has done to it.
  async reset(): Promise<void> {
    this.thaw();
    if (this.server === null) await this.start();
    this.user = ann;
    this.hasShortQueue = false;
    this.staleSince = null;
    this.override = () => null;
    this.isDead = () => false;
    this.isAsset = () => true;
  }

  // Makes an event of one node, upon which pages ask anew for what they show of the cluster.
  async tell(reason: string): Promise<void> {
    await world()('/api/v1/nodes/actions', { method: 'POST', body: JSON.stringify({ verb: 'undrain', nodes: ['fire-0009'], reason }) });
  }

  count(method: string, part: string): number {
    return this.asked.filter((each) => each.method === method && each.path.includes(part)).length;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    await this.thawed;
    const path = request.url ?? '/';
    if (!path.startsWith('/api/')) return this.file(new URL(path, this.url).pathname, response);
    const asked = { method: request.method ?? 'GET', path };
    this.asked.push(asked);
    const body = Buffer.concat(pieces).toString();
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    const answer = this.override(asked, body) ?? this.ofPeople(asked) ?? (await world()(this.hasShortQueue ? shorten(path) : path, { method: asked.method, signal: abort.signal, ...(body === '' ? {} : { body }) }));
    await this.pass(asked, answer, response);
  }

  private ofPeople({ path, method }: Asked): Response | null {
    const json = (body: unknown): Response => new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } });
    if (path.startsWith('/api/v1/session')) {
      return method === 'DELETE' ? new Response(null, { status: 204 }) : json({ ...this.user, expires_at: '2099-01-01T00:00:00Z', csrf: 'x' });
    }
    return path.startsWith('/api/v1/whoami') ? json({ ...this.user, groups: ['research'], cluster: 'fire-flyer', quotas: [] }) : null;
  }

  private async pass(asked: Asked, answer: Response, response: ServerResponse): Promise<void> {
    if (response.destroyed) return answer.body?.cancel(); // whoever asked has gone
    const stale = this.staleSince && answer.ok ? { 'Hai-Stale-Since': this.staleSince } : {};
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...stale });
    response.flushHeaders();
    const id = `${asked.path} ${this.asked.length}`;
    this.openStreams.add(id);
    const gone = new Promise((resolve) => response.on('close', resolve));
    response.on('close', () => this.openStreams.delete(id));
    if (answer.body) {
      for await (const piece of answer.body) {
        await this.thawed;
        if (response.destroyed) break;
        // No faster than whoever asked reads.
        if (!this.isDead(asked.path) && !response.write(piece)) await Promise.race([gone, new Promise((resolve) => response.once('drain', resolve))]);
      }
    }
    response.end();
  }

  private file(path: string, response: ServerResponse): void {
    const isPage = extname(path) === '';
    const at = join(dist, isPage ? 'index.html' : path);
    if (!existsSync(at) || !(isPage || this.isAsset(path))) {
      response.writeHead(404).end();
      return;
    }
    const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'; // as the server does it
    response.writeHead(200, { 'Content-Type': types[extname(at)] ?? 'application/octet-stream', 'Cache-Control': caching }).end(readFileSync(at));
  }
}
