// Marks on a plot: arrows, labels with a halo, and labels that make room for each other.

import { s } from "./dom.js";
import { textWidth } from "./ticks.js";

/** @typedef {import("./types.js").Colours} Colours */

/**
 * A line with a head at its end, in pixels; nothing where it has no length.
 * @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {string} colour
 * @param {{width?: number, head?: number, dash?: string, opacity?: number}} [options]
 */
export function arrow(x0, y0, x1, y1, colour, { width = 1.75, head = 8, dash, opacity } = {}) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 0.5)) return s("g");
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const size = Math.min(head, length);
  const [bx, by] = [x1 - ux * size, y1 - uy * size];
  const wing = size * 0.42;
  const corners = [
    [x1, y1],
    [bx - uy * wing, by + ux * wing],
    [bx + uy * wing, by - ux * wing],
  ];
  const points = corners.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ");
  const line = s("line", {
    x1: x0,
    y1: y0,
    x2: bx,
    y2: by,
    stroke: colour,
    "stroke-width": width,
    "stroke-dasharray": dash,
    "stroke-linecap": "round",
  });
  return s("g", { opacity }, line, s("polygon", { points, fill: colour }));
}

/**
 * A text that stays readable on lines and clouds: `halo` (or the paper of `colours`) is drawn round it.
 * @param {number} x @param {number} y @param {string|number} text
 * @param {{colours?: Colours, colour?: string, halo?: string|null, size?: number, anchor?:
 *   "start"|"middle"|"end", weight?: number, middle?: boolean}} [options] middle: y is the middle of the
 *   text, not its base line
 */
export function label(
  x,
  y,
  text,
  {
    colours,
    colour = colours?.ink,
    halo = colours?.paper,
    size = 12,
    anchor = "start",
    weight,
    middle = true,
  } = {},
) {
  const ring = halo
    ? { stroke: halo, "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" }
    : {};
  const attributes = {
    x,
    y: middle ? y + size * 0.35 : y,
    fill: colour,
    "font-size": size,
    "text-anchor": anchor,
    "font-weight": weight,
    "pointer-events": "none",
  };
  return s("text", { ...attributes, ...ring }, text);
}

/** @typedef {"start"|"middle"|"end"} Anchor */
/** @typedef {{x: number, y: number, text: string, size?: number, anchor?: Anchor}} Placed */

/** @type {Array<[number, number, Anchor]>} */
const AROUND = [
  [1, 0, "start"],
  [-1, 0, "end"],
  [0, -1, "middle"],
  [0, 1, "middle"],
  [0.75, -0.75, "start"],
  [-0.75, -0.75, "end"],
  [0.75, 0.75, "start"],
  [-0.75, 0.75, "end"],
];

/**
 * Labels next to their points, each where it covers the least; pass what comes out on to `label`.
 * @template {Placed} P
 * @param {P[]} labels x and y are those of the points
 * @param {{room?: number, box?: {left: number, top: number, width: number, height: number}, discs?:
 *   number[][]}} [options] discs: middles of what else must stay free
 * @returns {Array<P & {anchor: Anchor}>}
 */
export function spread(labels, { room = 9, box, discs = [] } = {}) {
  /** @type {number[][]} */
  const taken = [
    ...labels.map(({ x, y }) => [x - 4, y - 4, x + 4, y + 4]),
    ...discs.map(([x, y]) => [x - 9, y - 9, x + 9, y + 9]),
  ];
  return labels.map((each) => {
    /** @type {{place: P & {anchor: Anchor}, cover: number}|null} */
    let best = null;
    for (const reach of [1, 1.7, 2.6, 3.8]) {
      for (const [dx, dy, anchor] of AROUND) {
        const place = {
          ...each,
          x: each.x + dx * room * reach,
          y: each.y + dy * (room + 3) * reach,
          anchor,
        };
        const cover = labelCover(labelFrame(place), taken, box) + reach * 0.01;
        if (!best || cover < best.cover) best = { place, cover };
      }
      if (best && best.cover < 1) break;
    }
    const { place } = /** @type {NonNullable<typeof best>} */ (best);
    taken.push(labelFrame(place));
    return place;
  });
}

/** Left, top, right and bottom of a label. @param {Placed} place */
function labelFrame({ x, y, text, size = 12, anchor = "start" }) {
  const width = textWidth(String(text), size) + 4;
  const left = anchor === "start" ? x - 2 : anchor === "end" ? x - width + 2 : x - width / 2;
  return [left, y - size * 0.62, left + width, y + size * 0.62];
}

/**
 * How many square pixels of a frame are taken, or stand outside the box.
 * @param {number[]} frame @param {number[][]} taken
 * @param {{left: number, top: number, width: number, height: number}} [box]
 */
function labelCover(frame, taken, box) {
  const common = (/** @type {number[]} */ other) =>
    Math.max(0, Math.min(frame[2], other[2]) - Math.max(frame[0], other[0])) *
    Math.max(0, Math.min(frame[3], other[3]) - Math.max(frame[1], other[1]));
  const area = (frame[2] - frame[0]) * (frame[3] - frame[1]);
  const outside = box
    ? 4 * (area - common([box.left, box.top, box.left + box.width, box.top + box.height]))
    : 0;
  return outside + taken.reduce((sum, other) => sum + common(other), 0);
}
