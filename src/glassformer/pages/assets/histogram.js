// A histogram; zero is always a border of two bars, so that no bar mixes the signs.
//
//   const colourOf = (middle) => (middle > 0 ? colours.good : colours.bad);
//   histogram({width, height: 200, values: margins, label: "margin", colours, colourOf});

import { s } from "./dom.js";
import { plot } from "./chart.js";
import { extent, niceTicks } from "./ticks.js";

/** @typedef {import("./types.js").Colours} Colours */

/**
 * `colourOf` gives a bar's colour by its middle; `bins` is about how many bars there are.
 * @param {{width: number, height: number, values: ArrayLike<number>, bins?: number, domain?: [number,
 *   number], label?: string, yLabel?: string, colours: Colours, colourOf?: (middle: number) => string}}
 *   options
 */
export function histogram({
  width,
  height,
  values,
  bins = 30,
  domain,
  label: name = "",
  yLabel = "count",
  colours,
  colourOf,
}) {
  const { from, step, counts } = binned(values, bins, domain ?? extent(Array.from(values), 0));
  const x = {
    domain: /** @type {[number, number]} */ ([from[0], from[0] + step * counts.length]),
    label: name,
    grid: false,
  };
  const chart = plot({
    width,
    height,
    x,
    y: { domain: [0, Math.max(1, ...counts) * 1.14], label: yLabel },
    colours,
  });
  const bars = counts.map((count, bin) => {
    const [left, right, top] = [chart.X(from[bin]), chart.X(from[bin] + step), chart.Y(count)];
    const fill = colourOf?.(from[bin] + step / 2) ?? colours.accent;
    return s("rect", {
      x: left + 0.5,
      y: top,
      width: Math.max(0.5, right - left - 1),
      height: Math.max(0, chart.Y(0) - top),
      fill,
    });
  });
  chart.layer.append(...bars);
  return { ...chart, bars, counts, from, step };
}

/**
 * Counts between round borders.
 * @param {ArrayLike<number>} values @param {number} bins @param {[number, number]} domain
 */
export function binned(values, bins, [low, high]) {
  const [first, second] = niceTicks(0, high - low, bins);
  const step = second - first || 1;
  const start = Math.floor(low / step);
  const counts = new Array(Math.max(1, Math.floor(high / step) - start + 1)).fill(0);
  for (const value of Array.from(values)) {
    if (value >= low && value <= high) counts[Math.floor(value / step) - start] += 1;
  }
  return { from: counts.map((_, bin) => (start + bin) * step), step, counts };
}
