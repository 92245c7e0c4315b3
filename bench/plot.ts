// Colours that can be told apart, also without seeing red and green, on white and on black.
const COLOURS = ["#3b82f6", "#f59e0b", "#10b981", "#a855f7", "#ef4444", "#64748b"];
const WIDTH = 720;

const quoted = (text: string) =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;" })[sign] ?? "&gt;");

/** The background stays the page's own; the ink follows the reader's choice of light or dark. */
const svg = (height: number, title: string, content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>${quoted(title)}</title>
<style>
text { fill: #1f2328 }
line { stroke: #8c959f; stroke-width: 0.5 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>
<text x="8" y="18" font-size="14" font-weight="600">${quoted(title)}</text>
${content}
</svg>
`;

const text = (x: number, y: number, content: string, anchor = "start") =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${quoted(content)}</text>`;

/**
 * Draws horizontal bars.
 *
 * @param bars each with parts that are stacked, of which `parts` are the names
 */
export function bars(
  title: string,
  unit: string,
  parts: readonly string[],
  bars: readonly { label: string; values: readonly number[] }[],
): string {
  const left = 250;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const scale = (WIDTH - left - 80) / Math.max(...bars.map(({ values }) => sum(values)));
  const rows = bars.map(({ label, values }, row) => {
    const y = 58 + row * 22;
    let x = left;
    const drawn = values.map((value, part) => {
      const bar = `<rect x="${x.toFixed(1)}" y="${y}" width="${(value * scale).toFixed(1)}" height="14" fill="${COLOURS[part]}"/>`;
      x += value * scale;
      return bar;
    });
    return [
      text(left - 8, y + 11, label, "end"),
      ...drawn,
      text(x + 6, y + 11, `${sum(values).toFixed(0)} ${unit}`),
    ].join("\n");
  });
  return svg(58 + bars.length * 22 + 8, title, [legend(parts, left, 34), ...rows].join("\n"));
}

const legend = (names: readonly string[], left: number, y: number) =>
  names
    .map(
      (name, n) =>
        `<rect x="${left + n * 200}" y="${y}" width="10" height="10" fill="${COLOURS[n]}"/>${text(left + n * 200 + 15, y + 9, name)}`,
    )
    .join("\n");

/** Draws lines from 0 upwards. */
export function lines(
  title: string,
  axes: { x: string; y: string; logX?: boolean },
  series: readonly { label: string; points: readonly (readonly [number, number])[] }[],
): string {
  const [left, top, right, bottom] = [64, 44, WIDTH - 190, 300];
  const scaleX = axes.logX ? Math.log10 : (value: number) => value;
  const points = series.flatMap(({ points }) => points);
  const [x0, x1] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const y1 = Math.max(...points.map(([, y]) => y)) * 1.05;
  const share = (value: number) => (scaleX(value) - scaleX(x0)) / (scaleX(x1) - scaleX(x0));
  const x = (value: number) => left + share(value) * (right - left);
  const y = (value: number) => bottom - (value / y1) * (bottom - top);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = y1 * part;
    const at = y(value).toFixed(1);
    return `<line x1="${left}" y1="${at}" x2="${right}" y2="${at}"/>${text(left - 6, y(value) + 4, Number(value.toPrecision(2)).toLocaleString("en"), "end")}`;
  });
  const ticks = [...new Set(points.map(([value]) => value))].map((value) =>
    text(x(value), bottom + 16, value.toLocaleString("en"), "middle"),
  );
  // Names stand at the ends of their lines, apart from each other.
  const ends = series
    .map(({ label, points }, n) => ({ label, n, at: y(points.at(-1)?.[1] ?? 0) }))
    .sort((a, b) => a.at - b.at);
  for (const [n, end] of ends.entries()) end.at = Math.max(end.at, (ends[n - 1]?.at ?? 0) + 15);
  const drawn = series.map(
    ({ points }, n) =>
      `<polyline fill="none" stroke="${COLOURS[n]}" stroke-width="2" points="${points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ")}"/>`,
  );
  const names = ends.map(
    ({ label, n, at }) =>
      `<rect x="${right + 8}" y="${(at - 5).toFixed(1)}" width="10" height="10" fill="${COLOURS[n]}"/>${text(right + 23, at + 4, label)}`,
  );
  const labels = [text((left + right) / 2, bottom + 36, axes.x, "middle"), text(left, top - 8, axes.y)];
  return svg(bottom + 48, title, [...grid, ...ticks, ...labels, ...drawn, ...names].join("\n"));
}
