import { api, configMap, create, deployment, editLine, expect, namespace, replaceText, test } from './console.js';

const status = (page) => page.locator('.edit [role="status"]').last();

test('an error is shown at its line, and a corrected object is applied', async ({ page }) => {
  const ns = await namespace(page, 'edit');
  const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const { spec, ...rest } = deployment('web');
  await create(page, `${path}?fieldManager=kubectl-create`, { ...rest, spec: { ...spec, replicas: 2 } });
  await page.goto(`#/o/apps/v1/deployments/${ns}/web`);
  await editLine(page, 'replicas: 2', 1, '-1');
  // The server validates while the user types; the mark is in the gutter of the line.
  await page.getByRole('tab', { name: /Problems/ }).click();
  const problems = page.locator('.problems');
  await expect(problems).toContainText('spec.replicas: Invalid value: -1: must be greater than or equal to 0');
  await expect(page.locator('.cm-lint-marker-error')).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Apply' })).toBeDisabled();
  await editLine(page, 'replicas: -1', 2, '"four"');
  await expect(problems).toContainText('must be an integer, not "four"');
  await editLine(page, 'replicas: "four"', 6, '4');
  await editLine(page, 'imagePullPolicy:', 0, '\nimagee: other');
  await expect(problems).toContainText('unknown field "imagee"; did you mean "image"?');
  await problems.getByRole('button').first().click();
  await expect(page.locator('.cm-activeLine')).toContainText('imagee');
  await page.getByRole('button', { name: 'Undo all' }).click();
  await expect(page.locator('.cm-line', { hasText: 'replicas: 2' })).toBeVisible();
  await editLine(page, 'replicas: 2', 1, '4');
  await page.getByRole('tab', { name: 'Changes' }).click();
  const diff = page.getByRole('region', { name: 'What would change' });
  await expect(diff.locator('.removed')).toContainText('replicas: 2');
  await expect(diff.locator('.added')).toContainText('replicas: 4');
  await expect(page.getByRole('alert')).toContainText('kubectl-create');
  await page.getByLabel(/Take it over/).check();
  await page.getByRole('button', { name: 'Apply with force' }).click();
  await expect(page.getByText(/Written as resource version/)).toBeVisible();
  const { body } = await api(page, 'GET', `${path}/web`);
  expect(body.spec.replicas).toBe(4);
  // Other fields stay with their manager.
  const own = body.metadata.managedFields.find((one) => one.manager === 'console' && one.operation === 'Apply');
  expect(own.fieldsV1['f:spec']).toEqual({ 'f:replicas': {} });
});

test('a conflict names the manager, and force takes the field over', async ({ page }) => {
  const ns = await namespace(page, 'conflict');
  const path = `/api/v1/namespaces/${ns}/configmaps/settings`;
  await api(page, 'PATCH', `${path}?fieldManager=gitops`, configMap('settings', { level: '3', mode: 'fast' }), 'application/apply-patch+yaml');
  await page.goto(`#/o/core/v1/configmaps/${ns}/settings`);
  await editLine(page, 'level: "3"', 3, '"9"');
  const conflict = page.getByRole('alert');
  await expect(conflict).toContainText('data.level');
  await expect(conflict).toContainText('gitops');
  await expect(page.locator('.cm-lint-marker-warning')).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Apply' })).toBeDisabled();
  await page.getByRole('button', { name: 'Review' }).click();
  await expect(page.locator('.diff .added')).toContainText('level: "9"');
  await page.getByLabel(/Take it over/).check();
  await page.getByRole('button', { name: 'Apply with force' }).click();
  await expect(page.getByText(/Written as resource version/)).toBeVisible();
  await page.getByRole('link', { name: 'Ownership' }).click();
  const line = (text) => page.locator('.owned .line', { hasText: text });
  await expect(line('level: "9"')).toContainText('console');
  await expect(line('level: "9"')).not.toContainText('gitops');
  await expect(line('mode: fast')).toContainText('gitops');
  await expect(line('mode: fast')).not.toContainText('console');
});

test('an object that changed meanwhile is not overwritten', async ({ page }) => {
  const ns = await namespace(page, 'race');
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  await create(page, path, configMap('settings', { a: '1' }));
  await page.goto(`#/o/core/v1/configmaps/${ns}/settings`);
  await expect(page.locator('.cm-line', { hasText: 'a: "1"' })).toBeVisible();
  await api(page, 'PATCH', `${path}/settings`, { data: { b: '2' } }, 'application/merge-patch+json');
  await expect(page.getByText('The object has changed on the server.')).toBeVisible();
  await page.getByLabel('Write by').selectOption('replace');
  await editLine(page, 'a: "1"', 3, '"5"');
  await page.getByRole('tab', { name: /Problems/ }).click();
  await expect(page.locator('.problems')).toContainText('the object has been modified');
  await page.getByRole('button', { name: 'Load it again' }).click();
  await expect(page.locator('.cm-line', { hasText: 'b: "2"' })).toBeVisible();
});

test('removed fields of others stay, unless the object is replaced', async ({ page }) => {
  const ns = await namespace(page, 'removal');
  const path = `/api/v1/namespaces/${ns}/configmaps`;
  await create(page, path, configMap('settings', { a: '1', b: '2' }));
  await page.goto(`#/o/core/v1/configmaps/${ns}/settings`);
  await page.locator('.cm-line', { hasText: 'b: "2"' }).click();
  await page.keyboard.press('Control+Shift+k');
  await expect(page.getByText('Applying does not remove data.b')).toBeVisible();
  await page.getByLabel('Write by').selectOption('replace');
  await page.getByRole('button', { name: 'Replace' }).click();
  await expect(page.getByText(/Written as resource version/)).toBeVisible();
  expect((await api(page, 'GET', `${path}/settings`)).body.data).toEqual({ a: '1' });
});

test('several documents make several objects', async ({ page }) => {
  const ns = await namespace(page, 'several');
  await page.goto(`#/new?ns=${ns}`);
  await replaceText(page, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\ntype: [wrong]\n');
  await page.getByRole('tab', { name: /Problems/ }).click();
  await expect(page.locator('.problems')).toBeVisible();
  await replaceText(page, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {mode: "0644", "on": "yes", y: "1"}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\n');
  await expect(status(page)).toHaveText('The server accepts this.');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Secret' })).toBeVisible();
  expect((await api(page, 'GET', `/api/v1/namespaces/${ns}/configmaps/one`)).body.data).toEqual({ mode: '0644', on: 'yes', y: '1' });
  await page.goto(`#/o/core/v1/configmaps/${ns}/one`);
  await expect(page.locator('.cm-line', { hasText: '"yes"' })).toBeVisible();
});

test('the schema of the field at the cursor is shown', async ({ page }) => {
  const ns = await namespace(page, 'schema');
  await create(page, `/apis/apps/v1/namespaces/${ns}/deployments`, deployment('web'));
  await page.goto(`#/o/apps/v1/deployments/${ns}/web`);
  await page.locator('.cm-line', { hasText: 'imagePullPolicy' }).click();
  const schema = page.getByRole('tabpanel');
  await expect(schema).toContainText('imagePullPolicy');
  await expect(schema.locator('.type')).toHaveText('string');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('termin');
  await expect(page.locator('.cm-tooltip-autocomplete')).toContainText('terminationMessagePath');
});
