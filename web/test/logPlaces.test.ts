import { afterEach, expect, it, vi } from 'vitest';
import { LogPlace } from '../src/api/logPlaces';

// A channel whose messages wait until somebody delivers them.
let channels: FakeChannel[] = [];
let waiting: { from: FakeChannel; data: unknown }[] = [];

class FakeChannel extends EventTarget {
  constructor() {
    super();
    channels.push(this);
  }
  postMessage(data: unknown): void {
    waiting.push({ from: this, data });
  }
  close(): void {
    channels = channels.filter((each) => each !== this);
  }
}

function deliver(): void {
  for (const { from, data } of waiting.splice(0)) {
    for (const channel of channels) if (channel !== from) channel.dispatchEvent(new MessageEvent('message', { data }));
  }
}

function pages(count: number) {
  vi.stubGlobal('BroadcastChannel', FakeChannel);
  const places = Array.from({ length: count }, () => new LogPlace());
  const follows = places.map(() => false);
  const take = (page: number): void => {
    follows[page] = true;
    places[page]!.take(() => {
      follows[page] = false;
      places[page]!.leave();
    });
  };
  return { places, take, following: () => follows.flatMap((is, page) => (is ? [page] : [])) };
}

afterEach(() => {
  vi.unstubAllGlobals();
  channels = [];
  waiting = [];
});

it('lets the three pages follow that began last', () => {
  const { take, following } = pages(7);
  for (let page = 0; page < 7; page += 1) {
    take(page);
    while (waiting.length) deliver();
  }
  expect(following()).toEqual([4, 5, 6]);
  take(0);
  while (waiting.length) deliver();
  expect(following()).toEqual([0, 5, 6]);
});

it.each([
  [0, 6],
  [2, 3],
  [3, 4],
  [3, 5],
])('leaves no place free when the pages %i to %i begin before they hear of each other', (from, to) => {
  const { take, following } = pages(7);
  for (let page = 0; page < 7; page += 1) {
    take(page);
    if (page < from || page >= to) while (waiting.length) deliver();
  }
  expect(following()).toEqual([4, 5, 6]);
});

it('says when there is a place again', async () => {
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  const { places, take } = pages(4);
  for (const page of [0, 1, 2, 3]) take(page);
  while (waiting.length) deliver();
  let isFree = false;
  const free = places[0]!.untilWanted(new AbortController().signal).then(() => (isFree = true));
  await Promise.resolve();
  expect(isFree).toBe(false);
  places[2]!.leave();
  deliver();
  await free;
});

it('counts a page no more that has left or is closed', () => {
  const { places, take, following } = pages(4);
  for (const page of [0, 1, 2]) take(page);
  places[1]!.leave();
  places[2]!.close();
  take(3);
  while (waiting.length) deliver();
  expect(following()).toContain(0);
});
