import { api, create, expect, test } from './console.js';
import { link, state } from './playwright.config.js';

test('the link signs in once, and no script can read the cookie', async ({ page, context, browser }) => {
  await page.goto(link.href);
  await expect(page.getByText('Signed in as kubernetes-admin')).toBeVisible();
  expect(page.url()).not.toContain('code=');
  const [cookie] = await context.cookies(`${link.origin}/ui/`);
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/ui/', expires: -1 });
  expect(await page.evaluate(() => document.cookie)).toBe('');
  expect(await page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }))).toEqual(['console.key']);
  const key = await page.evaluate(() => localStorage.getItem('console.key'));
  // The page's half alone, as a token or as a session, is of no use.
  const bare = await browser.newContext({ ignoreHTTPSErrors: true });
  for (const headers of [{ Authorization: `Bearer ${key}` }, { 'X-Console-Key': key }]) {
    const answer = await bare.request.get(`${link.origin}/ui/server/api/v1/pods`, { headers });
    expect([401, 403]).toContain(answer.status());
  }
  const second = await bare.newPage();
  await second.goto(link.href);
  await expect(second.getByRole('alert')).toContainText('the link is wrong, used or too old');
  await bare.close();
  await context.storageState({ path: state });
});

test.describe('with a token', () => {
  test.use({ storageState: async ({}, use) => use(state) });

  test('a service account signs in, sees its rights, and signs out', async ({ page, browser }) => {
    await page.goto('#/');
    await expect(page.getByText('Signed in as kubernetes-admin')).toBeVisible();
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await create(page, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'visitor' } });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await create(page, `${accounts}/visitor/token`, request);

    const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: `${link.origin}/ui/`, storageState: { cookies: [], origins: [] } });
    const visitor = await context.newPage();
    await visitor.goto('#/');
    await visitor.getByLabel('Token').fill('not-a-token');
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await expect(visitor.getByRole('alert')).toContainText('does not accept this token');
    await visitor.getByLabel('Token').fill(status.token);
    await visitor.keyboard.press('Enter');
    await expect(visitor.getByText('Signed in as system:serviceaccount:default:visitor')).toBeVisible();
    expect(await visitor.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(status.token.slice(0, 20));

    // Access denied: the list gives the server's reason, and the review shows what is allowed.
    await visitor.goto('#/r/core/v1/secrets');
    await expect(visitor.getByRole('alert')).toContainText('secrets is forbidden: User "system:serviceaccount:default:visitor" cannot list resource "secrets"');
    await visitor.goto('#/access');
    const verbs = visitor.getByRole('table', { name: 'Verbs' });
    await expect(verbs.getByText('no', { exact: false })).toHaveCount(8);
    await visitor.reload();
    await expect(visitor.getByText('Signed in as system:serviceaccount:default:visitor')).toBeVisible();
    await visitor.getByRole('button', { name: 'Sign out' }).click();
    await expect(visitor.getByLabel('Token')).toBeVisible();
    expect((await api(visitor, 'GET', '/api/v1/namespaces')).code).toBe(403);
    await context.close();
  });
});
