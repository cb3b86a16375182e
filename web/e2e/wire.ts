import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

// The network between a browser and a server, as bytes: it can be cut, so that nothing arrives any more and no
// connection ends, and it can be slow.
export class Wire {
  url = '';
  private delayMs = 0;
  private isCut = false;
  private readonly ends = new Set<Socket>();
  private readonly server: Server;

  constructor(private readonly to: URL) {
    this.server = createServer((near) => {
      const far = connect(Number(to.port), to.hostname);
      this.pass(near, far);
      this.pass(far, near);
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `${this.to.protocol}//127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.isCut = true;
  }

  // What was sent meanwhile is lost, and so are the connections that it was sent over.
  mend(): void {
    this.isCut = false;
    for (const end of this.ends) end.destroy();
  }

  // So much later does each byte arrive, on its way there and on its way back.
  slow(delayMs: number): void {
    this.delayMs = delayMs;
  }

  close(): void {
    this.mend();
    this.server.close();
  }

  private pass(from: Socket, to: Socket): void {
    this.ends.add(from);
    const later = (act: () => void): void => {
      setTimeout(() => this.isCut || to.destroyed || act(), this.delayMs);
    };
    from.on('data', (bytes) => later(() => to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.ends.delete(from);
      later(() => to.destroy());
    });
  }
}
