import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// What axe finds against WCAG's levels A and AA and good practice, in words; or only against the rules named. The size of
// targets is of WCAG 2.2 AA, and axe leaves it off by itself.
export const faultsOf = (page: Page, ...rules: string[]): Promise<string[]> => faultsIn(page, 'html', ...rules);

// The same of a part: what lies behind a dialog is not looked at again.
export async function faultsIn(page: Page, part: string, ...rules: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  return page.evaluate(async ({ part, only }) => {
    type Axe = { run: (root: string, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    const options = { resultTypes: ['violations'], ...(only.length > 0 ? { runOnly: only } : { rules: { 'target-size': { enabled: true } } }) };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(part, options);
    return violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join('; ')}`);
  }, { part, only: rules });
}
