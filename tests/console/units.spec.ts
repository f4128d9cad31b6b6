// The parts of the console that need no browser.
import { expect, test } from '@playwright/test';
import { difference } from '../../server/console/ui/src/diff';
import { applied, owns, removedOfOthers } from '../../server/console/ui/src/fields';
import { parse, quantile } from '../../server/console/ui/src/metrics';
import { parseField, YamlText } from '../../server/console/ui/src/positions';
import { closest } from '../../server/console/ui/src/validate';
import { toYaml } from '../../server/console/ui/src/yaml';

/** A schema with containers by name, as `KindSchema` gives it. */
const containers = { items: { properties: { name: {}, image: {}, args: { items: {} } } }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const root = { properties: { metadata: { properties: { labels: { additionalProperties: {} } } }, spec: { properties: { replicas: {}, containers } } } };
const schema: any = {
  root,
  resolve: (one: any) => one,
  child: (one: any, step: string | number) => (typeof step === 'number' ? one.items : (one.properties?.[step] ?? one.additionalProperties)),
};

const live: any = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', resourceVersion: '7', labels: { app: 'a' }, managedFields: [] },
  spec: { replicas: 1, containers: [{ name: 'main', image: 'x:1', args: ['-v'] }, { name: 'side', image: 'y:1' }] },
  status: { ready: 1 },
};
const edit = (change: (object: any) => void) => {
  const edited = structuredClone(live);
  delete edited.status;
  change(edited);
  return edited;
};
const head = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', namespace: 'n' } };

test('an edit applies the fields that differ', () => {
  expect(applied(live, edit(() => undefined), schema)).toEqual(head);
  expect(applied(live, edit((one) => (one.spec.replicas = 3)), schema)).toEqual({ ...head, spec: { replicas: 3 } });
  const image = edit((one) => (one.spec.containers[1].image = 'y:2'));
  expect(applied(live, image, schema)).toEqual({ ...head, spec: { containers: [{ name: 'side', image: 'y:2' }] } });
  const args = edit((one) => one.spec.containers[0].args.push('-x'));
  expect(applied(live, args, schema)).toEqual({ ...head, spec: { containers: [{ name: 'main', args: ['-v', '-x'] }] } });
  const label = edit((one) => (one.metadata.labels.tier = 'b'));
  expect(applied(live, label, schema)).toEqual({ ...head, metadata: { ...head.metadata, labels: { tier: 'b' } } });
});

test('fields that the console applied before stay in its configuration', () => {
  const fieldsV1 = { 'f:spec': { 'f:replicas': {}, 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:name': {}, 'f:image': {} } } } };
  const before = structuredClone(live);
  before.metadata.managedFields = [{ manager: 'console', operation: 'Apply', apiVersion: 'v1', fieldsV1 }];
  const kept = { ...head, spec: { replicas: 1, containers: [{ name: 'main', image: 'x:1' }] } };
  expect(applied(before, edit(() => undefined), schema)).toEqual(kept);
  const removed = edit((one) => delete one.spec.replicas);
  expect(applied(before, removed, schema)).toEqual({ ...head, spec: { containers: [{ name: 'main', image: 'x:1' }] } });
});

test('lists without keys are applied as a whole', () => {
  const image = edit((one) => (one.spec.containers[1].image = 'y:2'));
  expect(applied(live, image, undefined)).toEqual({ ...head, spec: { containers: image.spec.containers } });
});

test('owners of fields are found by keys, values and positions', () => {
  const set = { 'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': {}, 'f:image': {} } }, 'f:replicas': {} }, 'f:finalizers': { 'v:"a"': {} } };
  expect(owns(set, live, ['spec', 'containers', 1, 'image'])).toBe(true);
  expect(owns(set, live, ['spec', 'containers', 0, 'image'])).toBe(false);
  expect(owns(set, live, ['spec', 'replicas'])).toBe(true);
  expect(owns(set, live, ['spec'])).toBe(false);
  expect(owns(set, { finalizers: ['b', 'a'] }, ['finalizers', 1])).toBe(true);
  expect(owns(set, { finalizers: ['b', 'a'] }, ['finalizers', 0])).toBe(false);
  const before = structuredClone(live);
  before.metadata.managedFields = [{ manager: 'other', operation: 'Update', apiVersion: 'v1', fieldsV1: set }];
  expect(removedOfOthers(before, edit((one) => delete one.spec.replicas))).toEqual([['spec', 'replicas']]);
});

test('a difference has the changed lines and three around them', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `l${n}`);
  expect(difference(lines.join('\n'), lines.join('\n'))).toEqual([]);
  const after = [...lines.slice(0, 9), 'new', ...lines.slice(10)];
  const kinds = difference(lines.join('\n'), after.join('\n')).map((line) => line.kind);
  expect(kinds).toEqual(['gap', 'same', 'same', 'same', 'removed', 'added', 'same', 'same', 'same', 'gap']);
  expect(difference('', 'a').filter((line) => line.kind === 'added').map((line) => line.text)).toEqual(['a']);
});

test('YAML is read as kubectl reads it', () => {
  const value = (text: string) => new YamlText(text).value();
  expect(value('mode: 0644\ny: 1\non: yes\nday: 2026-11-28\ntime: 12:30:45')).toEqual({ mode: 420, y: 1, true: true, day: '2026-11-28', time: '12:30:45' });
  expect(value(toYaml({ a: 'yes', b: '0644', c: '1e3', d: 'null', e: 'a: b', f: '2026-11-28' }))).toEqual({ a: 'yes', b: '0644', c: '1e3', d: 'null', e: 'a: b', f: '2026-11-28' });
  expect(new YamlText('a: 1\na: 2').problems()).toHaveLength(1);
  expect(new YamlText('a: [').problems().length).toBeGreaterThan(0);
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.split('').map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(',')}]`).join('\n')}`;
  expect(() => value(bomb)).toThrow();
});

test('fields have positions', () => {
  const text = new YamlText('spec:\n  containers:\n  - name: a\n  - name: b\n    image: x\n');
  const at = (path: (string | number)[]) => text.text.slice(text.range(path).from, text.range(path).to);
  expect(at(['spec', 'containers', 1, 'image'])).toBe('x');
  expect(at(['spec', 'containers', 1, 'unknown'])).toBe('name: b');
  expect(at(['spec', 'unknown'])).toBe('spec');
  expect(text.pathAt(text.text.indexOf('image'))).toEqual(['spec', 'containers', 1, 'image']);
  expect(text.pathAt(text.text.indexOf('- name: a') + 3)).toEqual(['spec', 'containers', 0, 'name']);
  expect(parseField('spec.containers[0].env["A.B"].value')).toEqual(['spec', 'containers', 0, 'env', 'A.B', 'value']);
  expect(parseField('metadata.annotations[example.com/a]')).toEqual(['metadata', 'annotations', 'example.com/a']);
});

test('similar names are proposed', () => {
  expect(closest('imagee', ['image', 'name'])).toBe('image');
  expect(closest('xyz', ['image', 'name'])).toBeUndefined();
});

test('quantiles are those of the observations between two reads', () => {
  const read = (counts: number[]) => parse(['0.1', '0.2', '+Inf'].map((le, n) => `d_bucket{le="${le}",verb="GET"} ${counts[n]}`).join('\n'));
  const all = () => true;
  expect(quantile(read([5, 5, 5]), read([5, 15, 15]), 'd', 0.5, all)).toBeCloseTo(0.15);
  expect(quantile(read([5, 5, 5]), read([5, 5, 15]), 'd', 0.5, all)).toBe(0.2);
  expect(quantile(read([5, 5, 5]), read([5, 5, 5]), 'd', 0.5, all)).toBeUndefined();
});
