// Server-sent events out of pieces of text. EventSource cannot send an Authorization header, so the
// stream is read with fetch and cut into messages here.
interface SseMessage {
  id: string;
  event: string;
  data: string;
}

export class SseParser {
  private rest = '';

  push(piece: string): SseMessage[] {
    this.rest += piece;
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      const message = parseBlock(block);
      return message ? [message] : [];
    });
  }
}

function parseBlock(block: string): SseMessage | null {
  const message: SseMessage = { id: '', event: '', data: '' };
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') message.id = value;
    else if (field === 'event') message.event = value;
    else if (field === 'data') data.push(value);
  }
  if (data.length === 0) return null;
  message.data = data.join('\n');
  return message;
}
