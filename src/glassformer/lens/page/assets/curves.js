// Spectra as falling curves on a log scale, with those of random weights.

import { pathOf, plot } from "../../../pages/assets/chart.js";
import { s } from "../../../pages/assets/dom.js";
import { label } from "../../../pages/assets/marks.js";

/** @typedef {import("../../../pages/assets/chart.js").Plot} Plot */
/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */
/**
 * @typedef {{components: ArrayLike<number>, values: ArrayLike<number>, colour: string, words: string, dash?:
 *   string, width?: number, opacity?: number}} Curve
 */

const DEEPEST = 1e-7; // of the largest: smaller values are rounding, and would flatten the rest
const FEW_DOTS = 12; // components up to which curves have dots: a single one would not be seen

/**
 * @param {{curves: Curve[], width: number, height: number, colours: Colours, title: string, log?: boolean,
 *   label?: string}} options
 */
export function spectrumPlot({
  curves,
  width,
  height,
  colours,
  title,
  log = false,
  label: name = "component",
}) {
  const known = curves
    .flatMap((one) => Array.from(one.values))
    .filter((value) => value > 0 && Number.isFinite(value));
  const top = known.reduce((a, b) => Math.max(a, b), 0) || 1;
  const seen = known.filter((value) => value >= DEEPEST * top);
  const low = seen.reduce((a, b) => Math.min(a, b), top);
  const last = curves.reduce(
    (most, one) => Math.max(most, one.components[one.components.length - 1] ?? 1),
    1,
  );
  const x = {
    domain: /** @type {[number, number]} */ (log ? [0.9, last * 1.12] : [0, last + 1]),
    label: name,
    log,
  };
  const y = { domain: /** @type {[number, number]} */ ([low / 1.35, top * 1.35]), label: " ", log: true };
  const chart = plot({ width, height, x, y, colours, margins: { top: 30 } });
  for (const one of curves) chart.clipped.append(...curveMarks(one, chart, last));
  chart.layer.append(label(0, 12, title, { colours, size: 13, weight: 600, halo: null }));
  chart.layer.append(...curveKey(curves, chart, colours));
  return chart.root;
}

/** @param {Curve} one @param {Plot} chart @param {number} last */
function curveMarks(one, chart, last) {
  const points = Array.from(one.values, (value, i) => [one.components[i], value > 0 ? value : NaN]);
  const line = s("path", {
    d: pathOf(points, chart.X, chart.Y),
    fill: "none",
    stroke: one.colour,
    "stroke-width": one.width ?? 1.8,
    "stroke-dasharray": one.dash,
    "stroke-opacity": one.opacity,
  });
  if (last > FEW_DOTS || one.opacity) return [line];
  return [
    line,
    ...points
      .filter((point) => point[1] > 0)
      .map((point) => s("circle", { cx: chart.X(point[0]), cy: chart.Y(point[1]), r: 3, fill: one.colour })),
  ];
}

/**
 * What each line is, at the lower left, where falling curves leave room.
 * @param {Curve[]} curves @param {Plot} chart @param {Colours} colours
 */
function curveKey(curves, chart, colours) {
  const named = curves.filter((one) => one.words);
  const bottom = chart.box.top + chart.box.height - 12 - 16 * (named.length - 1);
  const left = chart.box.left + 8;
  return named.flatMap((one, i) => [
    s("line", {
      x1: left,
      x2: left + 18,
      y1: bottom + 16 * i,
      y2: bottom + 16 * i,
      stroke: one.colour,
      "stroke-width": 2,
      "stroke-dasharray": one.dash,
    }),
    label(left + 24, bottom + 16 * i, one.words, { colours, colour: colours.muted, size: 11.5 }),
  ]);
}
