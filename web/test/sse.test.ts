import { expect, it } from 'vitest';
import { SseParser } from '../src/api/sse';

it('cuts messages out of pieces that end anywhere', () => {
  const text = 'retry: 1000\n\nid: 7\nevent: job_held\ndata: {"a":\ndata: 1}\n\n: alive\n\nid: 8\ndata: x\n\n';
  for (const size of [1, 3, 1000]) {
    const parser = new SseParser();
    const messages = [];
    for (let i = 0; i < text.length; i += size) messages.push(...parser.push(text.slice(i, i + size)));
    expect(messages).toEqual([
      { id: '7', event: 'job_held', data: '{"a":\n1}' },
      { id: '8', event: '', data: 'x' },
    ]);
  }
});
