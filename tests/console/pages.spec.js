import { api, configMap, create, deployment, expect, namespace, replaceText, test } from './console.js';

const row = (page, name) => page.locator(`tr[data-name="${name}"]`);

test('a list changes while it is shown', async ({ page }) => {
  const ns = await namespace(page, 'live');
  const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
  await create(page, path, deployment('web'));
  await page.goto(`#/r/apps/v1/deployments?ns=${ns}`);
  await expect(row(page, 'web')).toContainText('0/2');
  await expect(page.getByText('Live')).toBeVisible();
  await create(page, path, deployment('api'));
  await expect(row(page, 'api')).toBeVisible();
  const names = () => page.locator('tbody tr').evaluateAll((rows) => rows.map((one) => one.dataset.name));
  expect(await names()).toEqual(['api', 'web']);
  await api(page, 'PATCH', `${path}/web`, { spec: { replicas: 5 } }, 'application/merge-patch+json');
  await expect(row(page, 'web')).toContainText('0/5');
  await api(page, 'DELETE', `${path}/api`);
  await expect(row(page, 'api')).toHaveCount(0);
  expect(await names()).toEqual(['web']);
});

test('labels and fields select, and pages follow each other', async ({ page }) => {
  const ns = await namespace(page, 'many');
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  const numbers = Array.from({ length: 230 }, (_, n) => String(n).padStart(3, '0'));
  for (let n = 0; n < numbers.length; n += 46) {
    await Promise.all(numbers.slice(n, n + 46).map((one) => create(page, path, configMap(`c${one}`, {}, { half: one < '115' ? 'first' : 'second' }))));
  }
  await page.goto(`#/r/core/v1/configmaps?ns=${ns}`);
  const rows = page.locator('tbody tr');
  await expect(rows).toHaveCount(200);
  // An object of a later page that goes away meanwhile does not come back with that page.
  await api(page, 'DELETE', `${path}/c229`);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect(rows).toHaveCount(229);
  await page.getByLabel('Labels').fill('half=second');
  await page.getByRole('button', { name: 'Search' }).click();
  await expect(rows).toHaveCount(114);
  await page.getByLabel('Fields').fill('metadata.name=c120');
  await page.keyboard.press('Enter');
  await expect(rows).toHaveCount(1);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Filter these rows').fill('c01');
  await expect(rows).toHaveCount(10);
  await page.getByLabel('Labels').fill('half in (');
  await page.getByRole('button', { name: 'Search' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
});

test('a custom resource is defined, created and explained', async ({ page }) => {
  const ns = await namespace(page, 'shop');
  await page.goto('#/definitions');
  await page.getByRole('link', { name: 'Create' }).click();
  await replaceText(page, DEFINITION);
  await expect(page.getByText('The server accepts this.')).toBeVisible();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'gadgets.shop.example.com' })).toBeVisible();
  await page.goto('#/definitions');
  await expect(row(page, 'gadgets.shop.example.com')).toContainText('Established');
  await row(page, 'gadgets.shop.example.com').getByRole('link', { name: 'Objects' }).click();
  await expect(page.getByRole('heading', { name: 'Gadget' })).toBeVisible();
  await page.getByRole('link', { name: 'Create' }).click();
  await replaceText(page, `apiVersion: shop.example.com/v1\nkind: Gadget\nmetadata:\n  name: lamp\n  namespace: ${ns}\nspec:\n  size: 0\n  colour: red`);
  await page.getByRole('tab', { name: /Problems/ }).click();
  const problems = page.locator('.problems');
  await expect(problems).toContainText('Line 8 unknown field "colour"; did you mean "color"?');
  await expect(problems).toContainText('Line 7');
  await expect(page.getByRole('button', { name: 'Create', exact: true })).toBeDisabled();
  await replaceText(page, `apiVersion: shop.example.com/v1\nkind: Gadget\nmetadata:\n  name: lamp\n  namespace: ${ns}\nspec:\n  size: 7\n  color: red`);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'lamp' })).toBeVisible();
  await page.goto(`#/r/shop.example.com/v1/gadgets?ns=${ns}`);
  await expect(row(page, 'lamp')).toContainText('7');
  await page.getByRole('link', { name: 'Schema' }).click();
  await page.getByRole('button', { name: 'spec' }).click();
  await expect(page.getByText('Size in millimetres.')).toBeVisible();
  await page.getByRole('button', { name: 'color' }).click();
  await expect(page.getByText('red, green, blue')).toBeVisible();
});

test('all pages work by keyboard', async ({ page }) => {
  const ns = await namespace(page, 'keys');
  for (const name of ['a', 'b', 'c']) await create(page, `/api/v1/namespaces/${ns}/configmaps`, configMap(name));
  await page.keyboard.press('/');
  await page.keyboard.type('cm');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'ConfigMap' })).toBeVisible();
  await page.goto(`#/r/core/v1/configmaps?ns=${ns}`);
  await expect(row(page, 'c')).toBeVisible();
  await page.locator('h1').focus();
  await page.keyboard.press('f');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(row(page, 'b').getByRole('link')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'b' })).toBeFocused();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Find a kind');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('tab', { name: 'Schema' })).toBeFocused();
  await page.keyboard.press('o');
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
});

test('colours follow the system until the user chooses', async ({ page }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('#/');
  const dark = await background();
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background();
  expect(light).not.toBe(dark);
  await page.getByRole('button', { name: 'Colours: auto' }).click();
  await page.getByRole('button', { name: 'Colours: light' }).click();
  expect(await background()).toBe(dark);
  await page.reload();
  expect(await background()).toBe(dark);
});

test('events of an object are shown as they happen', async ({ page }) => {
  const ns = await namespace(page, 'events');
  const map = await create(page, `/api/v1/namespaces/${ns}/configmaps`, configMap('settings'));
  await page.goto(`#/o/core/v1/configmaps/${ns}/settings?tab=events`);
  await expect(page.getByText('No events of this object.')).toBeVisible();
  const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', namespace: ns, name: 'settings', uid: map.metadata.uid };
  await create(page, `/api/v1/namespaces/${ns}/events`, { apiVersion: 'v1', kind: 'Event', metadata: { generateName: 'settings.' }, involvedObject, reason: 'Loaded', message: 'Settings were loaded', type: 'Normal' });
  await expect(page.getByText('Settings were loaded')).toBeVisible();
});

test('an object is deleted, and its page reports it', async ({ page, context }) => {
  const ns = await namespace(page, 'gone');
  for (const name of ['one', 'two']) await create(page, `/api/v1/namespaces/${ns}/configmaps`, configMap(name));
  const other = await context.newPage();
  await other.goto(`#/o/core/v1/configmaps/${ns}/one`);
  await expect(other.locator('.cm-content')).toBeVisible();
  await page.goto(`#/o/core/v1/configmaps/${ns}/one`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('heading', { name: 'ConfigMap' })).toBeVisible();
  await expect(row(page, 'two')).toBeVisible();
  await expect(row(page, 'one')).toHaveCount(0);
  await expect(other.getByText('The object has been deleted.')).toBeVisible();
  await other.close();
});

test('the access of others is reviewed', async ({ page }) => {
  await page.goto('#/access');
  const verbs = page.getByRole('table', { name: 'Verbs' });
  await expect(verbs.getByText('yes')).toHaveCount(8);
  await page.getByLabel('User').fill('jane');
  await page.getByRole('button', { name: 'Review' }).click();
  await expect(verbs.getByText('no', { exact: false })).toHaveCount(8);
  await page.getByLabel('Resource', { exact: true }).fill('unknownthings');
  await page.getByRole('button', { name: 'Review' }).click();
  await expect(page.getByRole('alert')).toContainText('does not serve unknownthings');
});

test('metrics are drawn', async ({ page }) => {
  await page.goto('#/metrics');
  await expect(page.getByRole('img', { name: /Memory: resident \d/ })).toBeVisible();
  await expect(page.getByRole('img', { name: /Processor: of one core [\d.]+ %/ })).toBeVisible();
  await expect(page.locator('.chart path[d*="L"]').first()).toBeAttached();
});

test('swagger-ui shows the documents of both versions', async ({ page }) => {
  test.setTimeout(150_000);
  await page.goto('/swagger-ui/#v3%3A%20apis%2Fapps%2Fv1');
  await expect(page.getByText('/apis/apps/v1/namespaces/{namespace}/deployments', { exact: true }).first()).toBeVisible();
  await page.getByLabel('Document').selectOption('v3: version');
  await page.getByRole('button', { name: /\/version/ }).first().click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await expect(page.getByText('gitVersion').last()).toBeVisible();
  await page.getByLabel('Document').selectOption('v2: all groups');
  await expect(page.getByText('apps_v1').first()).toBeVisible({ timeout: 90_000 });
});

const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        description: A product of the workshop.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 100, description: Size in millimetres.}
              color: {type: string, enum: [red, green, blue], description: The colour of the finish.}
`;
