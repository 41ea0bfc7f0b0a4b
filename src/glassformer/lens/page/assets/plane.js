// Eigenvalues in the complex plane: circles of equal magnitude, and a root scale of the radius where a few
// are far out.

import { svgRoot } from "../../../pages/assets/chart.js";
import { s } from "../../../pages/assets/dom.js";
import { label } from "../../../pages/assets/marks.js";
import { short } from "../../../pages/assets/numbers.js";
import { niceTicks } from "../../../pages/assets/ticks.js";

/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */
/** @typedef {{eigenvalues: Float64Array, hollow: boolean}} PlaneCloud  real and imaginary parts in turn */

const SPREAD_OUT = 8; // largest over median magnitude from which on the radius is on a root scale
const REAL_WITHIN = 1e-7; // of its size: a smaller imaginary part is rounding
const ZERO_WITHIN = 1e-12; // of the largest: a smaller eigenvalue is rounding

/** How many are real, complex and zero. @param {Float64Array} eigenvalues */
export function countEigenvalues(eigenvalues) {
  const count = { real: 0, complex: 0, zero: 0 };
  const largest = largestEigenvalue(eigenvalues);
  for (let i = 0; i < eigenvalues.length; i += 2)
    count[eigenKind(eigenvalues[i], eigenvalues[i + 1], largest)] += 1;
  return count;
}

/** @param {number} re @param {number} im @param {number} largest @returns {"real"|"complex"|"zero"} */
function eigenKind(re, im, largest) {
  const size = Math.hypot(re, im);
  if (size <= ZERO_WITHIN * largest) return "zero";
  return Math.abs(im) > REAL_WITHIN * size ? "complex" : "real";
}

/** @param {Float64Array} eigenvalues */
function eigenSizes(eigenvalues) {
  return Float64Array.from({ length: eigenvalues.length / 2 }, (_, i) =>
    Math.hypot(eigenvalues[2 * i], eigenvalues[2 * i + 1]),
  );
}

/** @param {Float64Array} eigenvalues */
function largestEigenvalue(eigenvalues) {
  return eigenSizes(eigenvalues).reduce((a, b) => Math.max(a, b), 0);
}

/** Magnitudes, falling. @param {Float64Array} eigenvalues */
export function magnitudesOf(eigenvalues) {
  return eigenSizes(eigenvalues).sort().reverse();
}

/** @param {PlaneCloud[]} clouds @param {number} side @param {Colours} colours @param {string} title */
export function complexPlane(clouds, side, colours, title) {
  const sizes = clouds.flatMap((one) => [...eigenSizes(one.eigenvalues)]).sort((a, b) => a - b);
  const largest = sizes[sizes.length - 1] || 1;
  const median = sizes[Math.floor(sizes.length / 2)];
  const isRooted = median > 0 && largest > SPREAD_OUT * median;
  const top = 26;
  const [cx, cy, reach] = [side / 2, top + side / 2, side / 2 - 16];
  const radius = (/** @type {number} */ size) =>
    reach * (isRooted ? Math.sqrt(size / largest) : size / largest);
  const lines = [
    s("line", { x1: cx - reach - 8, x2: cx + reach + 8, y1: cy, y2: cy, stroke: colours.faint }),
    s("line", { x1: cx, x2: cx, y1: cy - reach - 8, y2: cy + reach + 8, stroke: colours.faint }),
  ];
  const circles = planeRadii(largest, isRooted).map((size) =>
    s("circle", { cx, cy, r: radius(size), fill: "none", stroke: colours.faint }),
  );
  const names = planeRadii(largest, isRooted)
    .filter((size) => radius(size) > 16)
    .map((size) =>
      label(cx + 3, cy + radius(size), short(size, 3), { colours, colour: colours.muted, size: 11 }),
    );
  const points = clouds.flatMap((cloud, i) =>
    planePoints(
      cloud,
      largest,
      radius,
      cx,
      cy,
      i === 0 ? colours.accent : colours.negative,
      clouds.length > 1 ? null : colours.negative,
    ),
  );
  const words = [
    label(0, 12, title, { colours, size: 13, weight: 600, halo: null }),
    label(side, 12, isRooted ? "radius: root scale" : "", {
      colours,
      colour: colours.muted,
      size: 11,
      anchor: "end",
      halo: null,
    }),
  ];
  const axes = [
    label(side - 4, cy + 11, "real", { colours, colour: colours.muted, size: 11, anchor: "end" }),
    label(cx + 6, top + 8, "imaginary", { colours, colour: colours.muted, size: 11 }),
  ];
  return svgRoot(side, top + side + 4, colours, words, lines, circles, points, names, axes);
}

/** @param {number} largest @param {boolean} isRooted */
function planeRadii(largest, isRooted) {
  if (isRooted)
    return [0.01, 0.1, 1]
      .map((share) => Number((share * 10 ** Math.floor(Math.log10(largest))).toPrecision(1)))
      .concat(
        largest > 3 * 10 ** Math.floor(Math.log10(largest))
          ? [3 * 10 ** Math.floor(Math.log10(largest))]
          : [],
      );
  return niceTicks(0, largest, 3).filter((tick) => tick > 0);
}

/**
 * Complex ones are dots, real ones diamonds.
 * @param {PlaneCloud} cloud @param {number} largest @param {(size: number) => number} radius
 * @param {number} cx @param {number} cy @param {string} colour @param {string|null} realColour
 */
function planePoints(cloud, largest, radius, cx, cy, colour, realColour) {
  const points = [];
  for (let i = 0; i < cloud.eigenvalues.length; i += 2) {
    const [re, im] = [cloud.eigenvalues[i], cloud.eigenvalues[i + 1]];
    const size = Math.hypot(re, im);
    const kind = eigenKind(re, im, largest);
    if (kind === "zero") continue;
    const [x, y] = [cx + (re / size) * radius(size), cy - (im / size) * radius(size)];
    const own = kind === "real" ? (realColour ?? colour) : colour;
    const paint = cloud.hollow
      ? { fill: "none", stroke: own, "stroke-width": 1.3 }
      : { fill: own, "fill-opacity": 0.85 };
    points.push(
      kind === "real"
        ? s("path", { d: `M${x} ${y - 4.2}L${x + 4.2} ${y}L${x} ${y + 4.2}L${x - 4.2} ${y}Z`, ...paint })
        : s("circle", { cx: x, cy: y, r: 3, ...paint }),
    );
  }
  return points;
}
