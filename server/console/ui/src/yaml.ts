// YAML as kubectl reads and writes it: version 1.1, without its times.

import { stringify } from 'yaml';
import type { Json } from './api';

const LEFT_OUT = ['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`);

/** Words that kubectl reads as booleans; `y` and `n` are names of fields. */
const BOOLEANS = { true: /^(?:[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/, false: /^(?:[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/ };

const customTags = (tags: Json[]) =>
  tags
    .filter((tag) => typeof tag === 'string' || (!LEFT_OUT.includes(tag.tag) && tag.format !== 'TIME'))
    .map((tag) => (tag.tag === 'tag:yaml.org,2002:bool' ? { ...tag, test: tag.test.test('true') ? BOOLEANS.true : BOOLEANS.false } : tag));

/** Options of reading and writing. */
export const YAML_1_1 = { schema: 'yaml-1.1', customTags } as const;

export function toYaml(value: Json): string {
  return stringify(value, { ...YAML_1_1, lineWidth: 0, aliasDuplicateObjects: false, indentSeq: false });
}

/** With the fields of maps in the order of their names, so that two objects can be compared. */
export function toSortedYaml(value: Json): string {
  return stringify(value, { ...YAML_1_1, lineWidth: 0, aliasDuplicateObjects: false, indentSeq: false, sortMapEntries: true });
}
