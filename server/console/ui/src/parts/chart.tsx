/** A line of a chart: a value per read, `undefined` where there is none. */
export interface Series {
  name: string;
  values: (number | undefined)[];
}

interface Props {
  title: string;
  unit: string;
  series: Series[];
  /** The times of the reads, in milliseconds. */
  times: number[];
  /** The span of the time axis, in milliseconds. */
  span: number;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [460, 150, 46, 18, 8];

/** A chart of lines, with the latest values in its legend. */
export function Chart({ title, unit, series, times, span }: Props) {
  const values = series.flatMap((one) => one.values).filter((value) => value !== undefined);
  const top = ceiling(Math.max(...values, 0));
  const end = times.at(-1) ?? 0;
  const x = (time: number) => LEFT + (WIDTH - LEFT - 6) * (1 - (end - time) / span);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const latest = series.map(({ name, values }) => `${name} ${format(values.at(-1), unit)}`).join(', ');
  return (
    <figure class="card chart">
      <figcaption><h2>{title}</h2></figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: ${latest}`}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="grid" x1={LEFT} x2={WIDTH - 6} y1={y(top * part)} y2={y(top * part)} />
            <text class="axis" x={LEFT - 5} y={y(top * part) + 3} text-anchor="end">{format(top * part, unit)}</text>
          </g>
        ))}
        <text class="axis" x={LEFT} y={HEIGHT - 4}>−{span / 60_000} min</text>
        <text class="axis" x={WIDTH - 6} y={HEIGHT - 4} text-anchor="end">now</text>
        {series.map((one, index) => <path key={one.name} class={`series s${index % 6}`} d={line(one.values, times, x, y)} />)}
      </svg>
      <ul class="legend">
        {series.map((one, index) => (
          <li key={one.name}><span class={`dot s${index % 6}`} aria-hidden="true" />{one.name} <b>{format(one.values.at(-1), unit)}</b></li>
        ))}
      </ul>
    </figure>
  );
}

function line(values: (number | undefined)[], times: number[], x: (time: number) => number, y: (value: number) => number): string {
  let path = '';
  let isDrawing = false;
  values.forEach((value, index) => {
    if (value === undefined) return void (isDrawing = false);
    path += `${isDrawing ? 'L' : 'M'}${x(times[index]).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = true;
  });
  return path;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function ceiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

/** A value with its unit: `12 MB`, `3.4 ms`. */
export function format(value: number | undefined, unit: string): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (unit === 'bytes') {
    if (value >= 1e9) return `${round(value / 1e9)} GB`;
    return value >= 1e6 ? `${round(value / 1e6)} MB` : `${round(value / 1e3)} kB`;
  }
  if (unit === 'seconds') return value < 1 ? `${round(value * 1000)} ms` : `${round(value)} s`;
  return `${round(value)}${unit === '%' ? ' %' : unit ? ` ${unit}` : ''}`;
}

function round(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(value >= 1 ? 2 : 3).replace(/\.?0+$/, '') || '0';
}
