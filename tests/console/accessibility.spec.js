// Rules of accessibility that a program can check (axe), on each page, in the light and in the dark.
import AxeBuilder from '@axe-core/playwright';
import { create, deployment, expect, namespace, test } from './console.js';

const PAGES = ['', 'r/apps/v1/deployments', 'definitions', 'explain/apps/v1/Deployment/spec', 'access', 'metrics', 'new/core/v1/configmaps'];
const TABS = ['', 'all', 'owners', 'events'];

/** Fails for violations of the rules, with the elements. */
async function check(page, name) {
  await expect(page.locator('h1')).toBeVisible();
  await expect(page.getByText('Loading…')).toHaveCount(0);
  const { violations } = await new AxeBuilder({ page }).analyze();
  // The content of the editor, below its scroller, can have the focus.
  const others = violations.filter(({ id, nodes }) => id !== 'scrollable-region-focusable' || nodes.some((node) => !node.html.includes('cm-scroller')));
  const found = others.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' ')}`);
  expect.soft(found).toEqual([]);
}

for (const colorScheme of ['light', 'dark']) {
  test(`pages follow the rules of accessibility (${colorScheme})`, async ({ page }) => {
    test.setTimeout(120_000);
    const ns = await namespace(page, `axe-${colorScheme}`);
    await create(page, `/apis/apps/v1/namespaces/${ns}/deployments`, deployment('web'));
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const path of PAGES) {
      await page.goto(`#/${path}`);
      await check(page, path);
    }
    for (const tab of TABS) {
      await page.goto(`#/o/apps/v1/deployments/${ns}/web${tab && `?tab=${tab}`}`);
      await check(page, `object ${tab}`);
    }
    await page.keyboard.press('?');
    await check(page, 'shortcuts');
  });
}
