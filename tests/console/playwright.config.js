// Runs against the server of CONSOLE_LINK, the link that the server printed; .ci/console starts it.
import { defineConfig } from '@playwright/test';

export const link = new URL(process.env.CONSOLE_LINK ?? 'https://127.0.0.1:6443/ui/');
/** The browser's half of the session and its cookie, after the first test has signed in. */
export const state = 'test-results/session.json';

export default defineConfig({
  testDir: '.',
  outputDir: 'test-results/runs',
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    baseURL: `${link.origin}/ui/`,
    // The authority of the server's certificate is its own.
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: process.getuid() === 0 ? ['--no-sandbox'] : [],
    },
  },
  projects: [
    { name: 'units', testMatch: 'units.spec.ts' },
    { name: 'sign-in', testMatch: 'signin.spec.js' },
    { name: 'pages', testMatch: ['accessibility.spec.js', 'pages.spec.js', 'edit.spec.js'], dependencies: ['sign-in'], use: { storageState: state } },
    { name: 'screenshots', testMatch: 'screenshots.spec.js', dependencies: ['sign-in'], use: { storageState: state } },
  ],
});
