// The test function of all tests. It fails a test whose page sends a request to another server, violates the
// Content-Security-Policy, or throws.
import { test as base, expect } from '@playwright/test';
import { link } from './playwright.config.js';

export { expect };

export const test = base.extend({
  page: async ({ page }, use) => {
    const faults = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== link.origin && url.protocol !== 'data:') faults.push(`request to ${url}`);
    });
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) faults.push(message.text());
    });
    await use(page);
    expect(faults).toEqual([]);
  },
});

/** Sends a request to the API as the user of the page. */
export function api(page, method, path, body, type = 'application/json') {
  return page.evaluate(
    async ([method, path, body, type]) => {
      const headers = { 'X-Console-Key': localStorage.getItem('console.key') ?? '', 'Content-Type': type };
      const response = await fetch(`/ui/server${path}`, { method, headers, body: body && JSON.stringify(body) });
      return { code: response.status, body: await response.json().catch(() => ({})) };
    },
    [method, path, body, type],
  );
}

/** Creates a namespace of a test. */
export async function namespace(page, name) {
  await page.goto('#/');
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await api(page, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

/** Creates objects, and fails for an answer other than success. */
export async function create(page, path, body) {
  const answer = await api(page, 'POST', path, body);
  expect(answer.code, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
}

export function configMap(name, data = {}, labels = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data };
}

export function deployment(name, replicas = 2) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example.com/web:1.4' }] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** Replaces the end of the line with this text in the editor. */
export async function editLine(page, line, remove, insert) {
  await page.locator('.cm-line', { hasText: line }).first().click();
  await page.keyboard.press('End');
  for (let n = 0; n < remove; n++) await page.keyboard.press('Backspace');
  await page.keyboard.type(insert);
}

/** Replaces the whole text of the editor. */
export async function replaceText(page, text) {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
