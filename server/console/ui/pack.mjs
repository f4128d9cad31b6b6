// Compresses the built console and swagger-ui into ../assets, which server/console/src/files.rs embeds.
// pako compresses in JavaScript, so that the bytes depend on no library of the system.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzip } from 'pako';

const here = dirname(fileURLToPath(import.meta.url));
const to = process.argv[2] ?? join(here, '../assets');
/** The most that all files together may have, in bytes. */
const MAX_TOTAL = 1_500_000;
/** Fields of a package.json that name the packages whose code is embedded. */
const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

/** The embedded packages: those of package.json, and what they depend on. */
function packages() {
  const found = new Set();
  const visit = (name) => {
    // swagger-ui-dist is one built file, whose licences are in it.
    if (found.has(name) || name === '@scarf/scarf') return;
    found.add(name);
    const manifest = JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'), 'utf8'));
    Object.keys(manifest.dependencies ?? {}).forEach(visit);
  };
  Object.keys(dependencies).forEach(visit);
  return [...found].sort();
}

function licences() {
  const texts = packages().map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)|bundle\.js\.LICENSE\.txt$/i.test(file)).sort();
    const own = files.filter((file) => !/^swagger-ui-(?!bundle\.js)/.test(file));
    return [`${name} ${version} (${license})`, ...own.map((file) => readFileSync(join(folder, file), 'utf8').trim())].join('\n\n');
  });
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

const swagger = (name) => readFileSync(join(here, 'node_modules/swagger-ui-dist', name));
const files = new Map([
  ...readdirSync(join(here, 'dist')).map((name) => [`ui/${name}`, readFileSync(join(here, 'dist', name))]),
  ['ui/licences.txt', Buffer.from(licences())],
  ...readdirSync(join(here, 'swagger')).map((name) => [`swagger-ui/${name}`, readFileSync(join(here, 'swagger', name))]),
  // Without the address of a source map, which is not served.
  ['swagger-ui/swagger-ui-bundle.js', Buffer.from(swagger('swagger-ui-bundle.js').toString().replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))],
  ['swagger-ui/swagger-ui.css', Buffer.from(swagger('swagger-ui.css').toString().replace(/\n\/\*# sourceMappingURL=.*\*\/\n?$/, '\n'))],
]);

rmSync(to, { recursive: true, force: true });
let total = 0;
for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const packed = gzip(content, { level: 9 });
  const path = join(to, `${name}.gz`);
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, packed);
  total += packed.length;
  console.log(`${String(packed.length).padStart(8)}  ${name}`);
}
console.log(`${String(total).padStart(8)}  in total`);
if (total > MAX_TOTAL) throw new Error(`more than ${MAX_TOTAL} bytes`);
