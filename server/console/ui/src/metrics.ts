// Metrics of the server: reads the text format, and computes rates and quantiles between two reads.

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** The samples of a read, by metric. */
export type Samples = Map<string, Sample[]>;

/** Reads the text format of Prometheus. */
export function parse(text: string): Samples {
  const samples: Samples = new Map();
  for (const line of text.split('\n')) {
    const match = line.match(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/);
    if (!match) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    const of = samples.get(match[1]) ?? [];
    of.push({ labels, value: Number(match[3]) });
    samples.set(match[1], of);
  }
  return samples;
}

type Matches = (labels: Record<string, string>) => boolean;

/** The sum of the samples of a metric that match. */
export function sum(samples: Samples, metric: string, matches: Matches = () => true): number {
  return (samples.get(metric) ?? []).filter((one) => matches(one.labels)).reduce((total, one) => total + one.value, 0);
}

/** The sums of a metric by the value of a label. */
export function sumBy(samples: Samples, metric: string, label: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples.get(metric) ?? []) sums.set(labels[label], (sums.get(labels[label]) ?? 0) + value);
  return sums;
}

/** A quantile of a histogram's observations between two reads; `undefined` if there were none. */
export function quantile(before: Samples, after: Samples, metric: string, q: number, matches: Matches): number | undefined {
  const bounds = new Map<number, number>();
  const add = (samples: Samples, sign: number) => {
    for (const { labels, value } of samples.get(`${metric}_bucket`) ?? []) {
      if (!matches(labels)) continue;
      const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
      bounds.set(bound, (bounds.get(bound) ?? 0) + sign * value);
    }
  };
  add(after, 1);
  add(before, -1);
  const buckets = [...bounds].sort(([a], [b]) => a - b);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  let [low, below] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= q * total) {
      if (bound === Infinity) return low;
      return low + (bound - low) * ((q * total - below) / Math.max(count - below, 1));
    }
    [low, below] = [bound, count];
  }
  return low;
}
