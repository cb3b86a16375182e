import { session } from './session';

// A terminal in a rank, over a WebSocket; see schemas/openapi.yaml. `onOutput` calls `shown` when the
// bytes are on the screen: the server waits for that, however fast a program writes.
export interface ShellListener {
  onOutput: (bytes: Uint8Array, shown: () => void) => void;
  onStarted: (node: string) => void;
  // Once, at the end: its exit code, or why there was none.
  onEnd: (end: { exitCode: number } | { error: string }) => void;
}

export interface OpenShell {
  type: (text: string | Uint8Array) => void;
  resize: (rows: number, columns: number) => void;
  close: () => void;
}

interface ShellWords {
  started?: { node: string };
  end?: { exit_code: number };
  error?: { message: string };
}

// Not told for each byte of a screen that is full.
const shownAtOnce = 64 << 10;
// The server takes messages of 64 KiB; what is pasted may be longer.
const pieceBytes = 32 << 10;

export function openShell(job: string, rank: number, size: { rows: number; columns: number }, listener: ShellListener): OpenShell {
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/v1/jobs/${encodeURIComponent(job)}/shell`);
  socket.binaryType = 'arraybuffer';
  let hasEnded = false;
  let wasOpen = false;
  let shown = 0;
  const tell = (words: object): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(words));
  };
  const end = (how: { exitCode: number } | { error: string }): void => {
    if (hasEnded) return;
    hasEnded = true;
    listener.onEnd(how);
  };
  socket.onopen = (): void => {
    wasOpen = true;
    tell({ open: { rank, ...size, term: 'xterm-256color', csrf: session.get()?.csrf ?? '' } });
  };
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>): void => {
    if (typeof data !== 'string') {
      listener.onOutput(new Uint8Array(data), () => {
        shown += data.byteLength;
        if (shown < shownAtOnce) return;
        tell({ shown });
        shown = 0;
      });
      return;
    }
    const words = JSON.parse(data) as ShellWords;
    if (words.started) listener.onStarted(words.started.node);
    if (words.end) end({ exitCode: words.end.exit_code });
    if (words.error) end({ error: words.error.message });
  };
  // A browser does not say why a WebSocket was not opened.
  socket.onclose = (): void =>
    end({ error: wasOpen ? 'the connection to the server is lost, and the shell with it' : 'the server does not open a terminal: it may be away, or nobody is signed in any more' });
  return {
    type: (text) => {
      const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
      for (let at = 0; at < bytes.length && socket.readyState === WebSocket.OPEN; at += pieceBytes) socket.send(bytes.slice(at, at + pieceBytes));
    },
    resize: (rows, columns) => tell({ size: { rows, columns } }),
    close: () => {
      hasEnded = true;
      socket.close();
    },
  };
}
