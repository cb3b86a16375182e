// Signs somebody in with a real browser: node chromium.mjs URL NAME BUTTON END. With BUTTON "" it begins by
// the address, as the button of the dashboard would. What the page is and knows in the end is printed
// as JSON.

import { chromium } from 'playwright-core';

const [url, name, button, end] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(60_000);
  if (button) {
    await page.goto(url);
    await page.getByRole('link', { name: button }).click();
  } else {
    await page.goto(`${url}/api/v1/oidc/login?next=/`);
  }
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('x');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(end);
  const seen = await page.evaluate(() => ({
    url: location.href,
    cookie: document.cookie,
    kept: JSON.stringify({ ...localStorage, ...sessionStorage }),
  }));
  const who = await (await page.goto(`${url}/api/v1/whoami`)).json();
  console.log(JSON.stringify({ ...seen, who }));
} finally {
  await browser.close();
}
