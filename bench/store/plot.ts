import type { GrowthPoint } from "./growth.ts";

/** Maps values onto pixels so that equal factors are equal distances. */
export function makeLogScale(
  [low, high]: readonly [number, number],
  [from, to]: readonly [number, number],
): (value: number) => number {
  const span = Math.log10(high) - Math.log10(low);
  return (value) => from + ((Math.log10(value) - Math.log10(low)) / span) * (to - from);
}

/** The powers of ten that enclose all values: the ticks of an axis and its ends. */
export function listDecades(values: readonly number[]): readonly number[] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(Math.ceil(Math.log10(Math.max(...values))), first + 1);
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

interface Look {
  readonly light: string;
  readonly dark: string;
  readonly dash: string;
}

/** Told apart without colour too. */
const looks: readonly Look[] = [
  { light: "#0050a0", dark: "#6cb6ff", dash: "" },
  { light: "#6b6b6b", dark: "#b0b0b0", dash: "2 4" },
  { light: "#b34700", dark: "#ffa657", dash: "9 4" },
  { light: "#007a55", dark: "#56d39b", dash: "9 3 2 3" },
  { light: "#8a3fa0", dark: "#d2a8ff", dash: "5 3" },
];

const size = { width: 860, height: 420, top: 96, bottom: 364 };
const panels = { open: { left: 76, right: 406 }, append: { left: 506, right: 836 } } as const;

function round(value: number): string {
  return (Math.round(value * 10) / 10).toString();
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Under a thousand as it is; thousands and millions as k and M. */
export function formatTick(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1000 ? `${value / 1000}k` : value.toString();
}

interface Panel {
  readonly title: string;
  readonly sides: { readonly left: number; readonly right: number };
  readonly points: readonly GrowthPoint[];
  readonly figureOf: (point: GrowthPoint) => number;
}

function listSubjects(points: readonly GrowthPoint[]): readonly string[] {
  return [...new Set(points.map((point) => point.subject))];
}

function renderPanel({ title, sides, points, figureOf }: Panel): string {
  const ticks = listDecades(points.map(figureOf));
  const lines = listDecades(points.map((point) => point.lines));
  const ends = (values: readonly number[]): readonly [number, number] => [values[0] ?? 1, values.at(-1) ?? 1];
  const x = makeLogScale(ends(lines), [sides.left, sides.right]);
  const y = makeLogScale(ends(ticks), [size.bottom, size.top]);
  const text = (at: string, content: string): string => `<text ${at}>${escapeText(content)}</text>`;
  const grid = ticks.flatMap((value) => [
    `<path class="grid" d="M${sides.left} ${round(y(value))}H${sides.right}"/>`,
    text(`x="${sides.left - 8}" y="${round(y(value) + 4)}" text-anchor="end"`, formatTick(value)),
  ]);
  const bottom = lines.map((value) =>
    text(`x="${round(x(value))}" y="${size.bottom + 20}" text-anchor="middle"`, formatTick(value)),
  );
  const curves = listSubjects(points).map((subject, at) => {
    const own = points.filter((point) => point.subject === subject).sort((a, b) => a.lines - b.lines);
    const spots = own.map((point) => `${round(x(point.lines))},${round(y(figureOf(point)))}`);
    const dots = spots.map((spot) => `<circle r="3" cx="${spot.split(",")[0]}" cy="${spot.split(",")[1]}"/>`).join("");
    return `<g class="s${at}"><polyline points="${spots.join(" ")}"/>${dots}</g>`;
  });
  const middle = (sides.left + sides.right) / 2;
  return [
    text(`class="title" x="${sides.left}" y="${size.top - 16}"`, title),
    ...grid,
    ...bottom,
    text(`x="${middle}" y="${size.bottom + 42}" text-anchor="middle"`, "lines in the file"),
    ...curves,
  ].join("\n");
}

function renderLegend(subjects: readonly string[]): string {
  let left = panels.open.left;
  const entries = subjects.map((subject, at) => {
    const entry = `<g class="s${at}"><path d="M${left} 36h34"/><circle r="3" cx="${left + 17}" cy="36"/></g><text x="${left + 42}" y="40">${escapeText(subject)}</text>`;
    left += 72 + subject.length * 7;
    return entry;
  });
  return entries.join("\n");
}

function renderStyle(): string {
  const strokes = (tone: "light" | "dark"): string =>
    looks.map((look, at) => `.s${at}{stroke:${look[tone]}}.s${at} circle{fill:${look[tone]}}`).join("");
  const dashes = looks
    .map(({ dash }, at) => (dash === "" ? "" : `.s${at} polyline,.s${at} path{stroke-dasharray:${dash}}`))
    .join("");
  return [
    "text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}.back{fill:#fff}.grid{stroke:#d0d7de;stroke-width:1}",
    "polyline,g path{fill:none;stroke-width:2}.s0 polyline,.s0 path{stroke-width:3}circle{stroke:none}",
    dashes,
    strokes("light"),
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#30363d}${strokes("dark")}}`,
  ].join("\n");
}

/** Two panels side by side, open time and append rate by the size of the file, both axes logarithmic. */
export function renderPlot(points: readonly GrowthPoint[]): string {
  const { width, height } = size;
  const open = { title: "open, ms", sides: panels.open, points, figureOf: (point: GrowthPoint) => point.openMs };
  const append = {
    title: "append, not synced, entries a second",
    sides: panels.append,
    points,
    figureOf: (point: GrowthPoint) => point.appendRate,
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t">
<title id="t">Time to open a file and rate of appending to it, by its size</title>
<style>
${renderStyle()}
</style>
<rect class="back" width="${width}" height="${height}"/>
${renderLegend(listSubjects(points))}
${renderPanel(open)}
${renderPanel(append)}
</svg>
`;
}
