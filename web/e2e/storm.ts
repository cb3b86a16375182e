// What a page costs its browser while events pour in: `npm run storm -- URL TOKEN [SECONDS]` against a
// server under load. CPU time of the page's process, so that it can be measured on a busy machine, too.
import { launch, openPage } from './browser';

const [url = 'http://127.0.0.1:4173', token = '', seconds = '20'] = process.argv.slice(2);
const browser = await launch();
const system = await browser.newBrowserCDPSession();

async function cpuSeconds(): Promise<number> {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  return processInfo.filter((each) => each.type === 'renderer').reduce((sum, each) => sum + each.cpuTime, 0);
}

for (const [title, path] of [['overview', '/'], ['map', '/map'], ['jobs', '/jobs'], ['nodes', '/nodes']]) {
  const page = await openPage(browser, url + path!, { width: 1366, height: 768, scheme: 'light', token });
  const network = await page.context().newCDPSession(page);
  let bytes = 0;
  let requests = 0;
  network.on('Network.dataReceived', ({ encodedDataLength }) => (bytes += encodedDataLength));
  network.on('Network.requestWillBeSent', () => (requests += 1));
  await network.send('Network.enable');
  await page.getByText('live', { exact: true }).waitFor();
  await page.waitForTimeout(4_000);
  const lastSeq = (): Promise<number> =>
    page.evaluate(async (secret) => ((await (await fetch('/api/v1/cluster', { headers: { Authorization: `Bearer ${secret}` } })).json()) as { last_seq: number }).last_seq, token);
  const [cpu, seq, began] = [await cpuSeconds(), await lastSeq(), performance.now()];
  [bytes, requests] = [0, 0];
  const worst = await page.evaluate(
    (ms) =>
      new Promise<number>((resolve) => {
        let [gap, last] = [0, performance.now()];
        const end = last + ms;
        const tick = (now: number): void => {
          [gap, last] = [Math.max(gap, now - last), now];
          if (now < end) requestAnimationFrame(tick);
          else resolve(gap);
        };
        requestAnimationFrame(tick);
      }),
    Number(seconds) * 1000,
  );
  const took = (performance.now() - began) / 1000;
  const events = ((await lastSeq()) - seq) / took;
  const busy = (100 * ((await cpuSeconds()) - cpu)) / took;
  console.log(
    `${title}: ${events.toFixed(0)} events/s, ${busy.toFixed(1)} % of a core, ${(requests / took).toFixed(1)} requests/s, ` +
      `${(bytes / took / 1024).toFixed(0)} KiB/s, worst frame gap ${worst.toFixed(0)} ms`,
  );
  await page.context().close();
}
await browser.close();
