import { useEffect, useRef, useState } from 'preact/hooks';
import { message, text } from '../api';
import { Chart, format, type Series } from '../parts/chart';
import { Notice } from '../parts/text';
import { parse, quantile, type Samples, sum, sumBy } from '../metrics';

const INTERVAL = 2000;
const SPAN = 300_000;
/** The span of the time axis at first; it grows to [`SPAN`]. */
const FIRST_SPAN = 60_000;
const MAX_POINTS = SPAN / INTERVAL + 1;

interface Point {
  time: number;
  values: Record<string, number | undefined>;
  groups: Record<string, Map<string, number>>;
}

const STREAMS = ['WATCH', 'CONNECT'];
const isShort = (labels: Record<string, string>) => !STREAMS.includes(labels.verb);
const isWrite = (labels: Record<string, string>) => ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'].includes(labels.verb);
const isRead = (labels: Record<string, string>) => isShort(labels) && !isWrite(labels);

/** What changed between two reads of the metrics. */
function point(before: Samples | undefined, beforeTime: number, after: Samples, time: number): Point {
  const seconds = (time - beforeTime) / 1000;
  const rate = (metric: string, matches?: (labels: Record<string, string>) => boolean) =>
    before && Math.max(0, (sum(after, metric, matches) - sum(before, metric, matches)) / seconds);
  const q = (share: number, matches: (labels: Record<string, string>) => boolean) =>
    before && quantile(before, after, 'apiserver_request_duration_seconds', share, matches);
  const cpu = rate('process_cpu_seconds_total');
  const rates = new Map<string, number>();
  if (before) {
    const old = sumBy(before, 'apiserver_request_total', 'verb');
    for (const [verb, count] of sumBy(after, 'apiserver_request_total', 'verb')) rates.set(verb, Math.max(0, (count - (old.get(verb) ?? 0)) / seconds));
  }
  const failed = (from: number) => (labels: Record<string, string>) => Math.floor(Number(labels.code) / 100) === from;
  return {
    time,
    values: {
      clientErrors: rate('apiserver_request_total', failed(4)),
      serverErrors: rate('apiserver_request_total', failed(5)),
      readMedian: q(0.5, isRead), readHigh: q(0.99, isRead), writeMedian: q(0.5, isWrite), writeHigh: q(0.99, isWrite),
      reads: sum(after, 'apiserver_current_inflight_requests', (labels) => labels.request_kind === 'readOnly'),
      writes: sum(after, 'apiserver_current_inflight_requests', (labels) => labels.request_kind === 'mutating'),
      watches: sum(after, 'apiserver_longrunning_requests', (labels) => labels.verb === 'WATCH'),
      memory: sum(after, 'process_resident_memory_bytes') || undefined,
      cpu: cpu === undefined ? undefined : cpu * 100,
      events: rate('apiserver_watch_cache_events_dispatched_total'),
    },
    groups: { rates, objects: sumBy(after, 'apiserver_storage_objects', 'resource') },
  };
}

/** The metrics of this server over the last minutes. */
export function MetricsPage() {
  const [points, setPoints] = useState<Point[]>([]);
  const [error, setError] = useState('');
  const [isPaused, setPaused] = useState(false);
  const last = useRef<{ samples: Samples; time: number } | undefined>(undefined);
  useEffect(() => {
    if (isPaused) return;
    let isCurrent = true;
    const read = async () => {
      try {
        const samples = parse(await text('/metrics'));
        if (!isCurrent) return;
        const [time, before] = [Date.now(), last.current];
        last.current = { samples, time };
        setPoints((known) => [...known.slice(-MAX_POINTS + 1), point(before?.samples, before?.time ?? 0, samples, time)]);
        setError('');
      } catch (failure) {
        if (isCurrent) setError(message(failure));
      }
    };
    void read();
    const timer = setInterval(read, INTERVAL);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [isPaused]);
  const times = points.map((one) => one.time);
  const elapsed = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const span = Math.min(SPAN, Math.max(FIRST_SPAN, Math.ceil(elapsed / FIRST_SPAN) * FIRST_SPAN));
  const of = (name: string, value: string): Series => ({ name, values: points.map((one) => one.values[value]) });
  const chart = (title: string, unit: string, series: Series[]) => <Chart title={title} unit={unit} series={series} times={times} span={span} />;
  return (
    <>
      <div class="title">
        <h1>Metrics</h1><span class="muted">of this server, every {INTERVAL / 1000} s</span><span class="grow" />
        <button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</button>
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      <div class="charts">
        {chart('Requests by verb', '/s', verbs(points))}
        {chart('Failed requests', '/s', [of('client (4xx)', 'clientErrors'), of('server (5xx)', 'serverErrors')])}
        {chart('Duration of requests', 'seconds', [of('reads, median', 'readMedian'), of('reads, 99 %', 'readHigh'), of('writes, median', 'writeMedian'), of('writes, 99 %', 'writeHigh')])}
        {chart('Requests under way', '', [of('reads', 'reads'), of('writes', 'writes'), of('watches', 'watches')])}
        {chart('Events sent to watches', '/s', [of('events', 'events')])}
        {chart('Processor', '%', [of('of one core', 'cpu')])}
        {chart('Memory', 'bytes', [of('resident', 'memory')])}
        <Stored objects={points.at(-1)?.groups.objects} />
      </div>
    </>
  );
}

/** The busiest verbs of the shown time. */
function verbs(points: Point[]): Series[] {
  const totals = new Map<string, number>();
  for (const one of points) for (const [verb, rate] of one.groups.rates) totals.set(verb, (totals.get(verb) ?? 0) + rate);
  const busiest = [...totals].sort(([, a], [, b]) => b - a).slice(0, 6).map(([verb]) => verb).sort();
  return busiest.map((verb) => ({ name: verb, values: points.map((one) => one.groups.rates.get(verb)) }));
}

function Stored({ objects }: { objects?: Map<string, number> }) {
  const most = [...(objects ?? [])].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a).slice(0, 8);
  const top = most[0]?.[1] ?? 1;
  return (
    <section class="card chart" aria-label="Stored objects">
      <h2>Stored objects</h2>
      <table class="bars">
        <tbody>
          {most.map(([resource, count]) => (
            <tr key={resource}>
              <th scope="row" title={resource}>{resource.split('.')[0]}</th>
              <td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * count) / top} height="8" /></svg></td>
              <td class="number">{format(count, '')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
