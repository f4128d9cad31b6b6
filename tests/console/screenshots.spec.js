// Pictures of all pages for the book: SCREENSHOTS=../../docs/console npx playwright test --project screenshots
import { api, configMap, create, deployment, editLine, expect, namespace, test } from './console.js';

const folder = process.env.SCREENSHOTS;
test.skip(!folder, 'SCREENSHOTS names no folder');

/** Creates definitions of two kinds. */
async function define(page) {
  for (const [plural, kind, scope] of [['orders', 'Order', 'Namespaced'], ['suppliers', 'Supplier', 'Cluster']]) {
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { name: { type: 'string' } } } } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }, { name: 'v1beta1', served: plural === 'orders', storage: false, schema }];
    const spec = { group: 'shop.example.com', scope, names: { plural, kind }, versions };
    await create(page, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.shop.example.com` }, spec });
  }
}

test('pictures', async ({ page, browser }) => {
  test.setTimeout(900_000);
  await page.setViewportSize({ width: 1180, height: 720 });
  const take = async (name) => {
    await page.waitForTimeout(700);
    await page.screenshot({ path: `${folder}/${name}.png` });
  };
  const ns = await namespace(page, 'demo');
  const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
  for (const [name, replicas] of [['api', 3], ['cache', 1], ['queue', 2], ['web', 2]]) await api(page, 'PATCH', `${path}/${name}?fieldManager=console`, deployment(name, replicas), 'application/apply-patch+yaml');
  const web = await api(page, 'GET', `${path}/web`);
  const involvedObject = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: ns, name: 'web', uid: web.body.metadata.uid };
  for (const [reason, message] of [['ScalingReplicaSet', 'Scaled up replica set web-5d4f7 from 0 to 2'], ['Updated', 'The image was updated to web:1.4']]) {
    const time = new Date(Date.now() - 90_000).toISOString().replace(/\.\d+/, '');
    await create(page, `/api/v1/namespaces/${ns}/events`, { apiVersion: 'v1', kind: 'Event', metadata: { generateName: 'web.' }, involvedObject, reason, message, type: 'Normal', count: 1, firstTimestamp: time, lastTimestamp: time });
  }
  await api(page, 'PATCH', `/api/v1/namespaces/${ns}/configmaps/settings?fieldManager=gitops`, configMap('settings', { level: '3', mode: 'fast', region: 'north' }), 'application/apply-patch+yaml');
  await page.reload();
  await expect(page.getByText('checks pass')).toBeVisible();
  await take('overview');
  await page.goto(`#/r/apps/v1/deployments?ns=${ns}`);
  await expect(page.locator('tr[data-name="web"]')).toBeVisible();
  await take('list');
  await page.goto(`#/o/apps/v1/deployments/${ns}/web`);
  await editLine(page, 'replicas: 2', 1, '-1');
  await page.getByRole('tab', { name: /Problems/ }).click();
  await expect(page.locator('.problems')).toContainText('spec.replicas');
  await take('error');
  await page.getByRole('tab', { name: 'Schema' }).click();
  await take('schema');
  await page.goto(`#/o/core/v1/configmaps/${ns}/settings`);
  await editLine(page, 'level: "3"', 3, '"9"');
  await expect(page.getByRole('alert')).toContainText('gitops');
  await page.getByRole('button', { name: 'Review' }).click();
  await take('conflict');
  await page.getByLabel(/Take it over/).check();
  await page.getByRole('button', { name: 'Apply with force' }).click();
  await page.getByRole('link', { name: 'Ownership' }).click();
  await expect(page.locator('.owned')).toContainText('gitops');
  await take('ownership');
  await page.goto(`#/o/apps/v1/deployments/${ns}/web?tab=events`);
  await expect(page.getByText('The image was updated')).toBeVisible();
  await take('events');
  await page.goto('#/explain/apps/v1/Deployment/spec/template/spec/containers');
  await expect(page.getByText('[]Container', { exact: true })).toBeVisible();
  await take('explain');
  await define(page);
  await page.goto('#/definitions');
  await expect(page.getByText('Established').nth(1)).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Definitions' })).toBeVisible();
  await take('definitions');
  await page.goto('#/access');
  await page.getByLabel('User').fill('system:serviceaccount:demo:default');
  await page.getByRole('button', { name: 'Review' }).click();
  await take('access');
  await page.goto('#/metrics');
  for (let n = 0; n < 9; n++) {
    for (let m = 0; m < 6 + (n % 4) * 8; m++) await api(page, m % 3 ? 'GET' : 'PATCH', `${path}/api`, m % 3 ? undefined : { metadata: { annotations: { n: `${n}-${m}` } } }, 'application/merge-patch+json');
    await page.waitForTimeout(1200);
  }
  await take('metrics');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`#/o/apps/v1/deployments/${ns}/web`);
  await expect(page.locator('.cm-content')).toContainText('replicas');
  await take('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/swagger-ui/#v3%3A%20apis%2Fapps%2Fv1');
  await expect(page.getByText('/apis/apps/v1/namespaces/{namespace}/deployments', { exact: true }).first()).toBeVisible();
  await take('swagger');
  const stranger = await browser.newContext({ ignoreHTTPSErrors: true, storageState: { cookies: [], origins: [] }, viewport: { width: 1180, height: 720 } });
  const other = await stranger.newPage();
  await other.goto(new URL('/ui/', page.url()).href);
  await other.getByText('How to get a token').click();
  await other.screenshot({ path: `${folder}/signin.png` });
  await stranger.close();
});
