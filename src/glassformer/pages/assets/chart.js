// Plots as plain SVG: a frame with a light grid, ticks that keep apart, and marks that are placed by X and Y.
//
//   const x = {domain: [0, 100], label: "step"};
//   const chart = plot({width, height: 260, x, y: {domain: [0, 3], label: "loss"}, colours});
//   chart.layer.append(s("path", {d: pathOf(points, chart.X, chart.Y), fill: "none", stroke: colours.accent}));

import { s } from "./dom.js";
import { logTicks, niceTicks, textWidth, tickText } from "./ticks.js";

/** @typedef {import("./types.js").Colours} Colours */
/**
 * `ticks` are values, or how many there should be about; `format` writes a tick (null: none are written).
 * @typedef {{domain: [number, number], label?: string, ticks?: number[]|number, log?: boolean,
 *   format?: ((value: number) => string)|null, grid?: boolean}} Axis
 */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {Partial<{left: number, right: number, top: number, bottom: number}>} Margins */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/**
 * @typedef {{root: SVGElement, layer: SVGElement, clipped: SVGElement, X: (v: number) => number, Y: (v:
 *   number) => number, invX: (px: number) => number, invY: (px: number) => number, box: Box}} Plot
 */

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const TEXT_SIZE = 12;

/**
 * The <svg> of a picture: all that it shows stands in its attributes, so that an export is what is seen.
 * @param {number} width @param {number} height @param {Colours} colours @param {...(Child|Child[])} children
 */
export function svgRoot(width, height, colours, ...children) {
  const attributes = {
    width: Math.round(width),
    height: Math.round(height),
    viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`,
    role: "img",
    "font-family": FONT,
    "font-size": TEXT_SIZE,
    fill: colours.ink,
    "font-variant-numeric": "tabular-nums",
  };
  return s("svg", attributes, ...children);
}

/**
 * A frame with axes. `clipped` cuts marks at the frame, `layer` (above it) does not.
 * @param {{width: number, height: number, x: Axis, y: Axis, equal?: boolean, colours: Colours,
 *   margins?: Margins}} options
 * @returns {Plot}
 */
export function plot({ width, height, x, y, equal = false, colours, margins = {} }) {
  const box = plotBox(width, height, x, y, margins);
  const [across, up] = equal ? equalDomains(x.domain, y.domain, box) : [x.domain, y.domain];
  const [X, invX] = plotScale(across, box.left, box.left + box.width, x.log);
  const [Y, invY] = plotScale(up, box.top + box.height, box.top, y.log);
  const layer = s("g");
  const clipped = s("svg", {
    x: box.left,
    y: box.top,
    width: box.width,
    height: box.height,
    viewBox: `${box.left} ${box.top} ${box.width} ${box.height}`,
    overflow: "hidden",
  });
  const axes = [
    acrossAxis({ ...x, domain: across }, X, box, colours),
    upAxis({ ...y, domain: up }, Y, box, colours),
  ];
  const root = svgRoot(width, height, colours, axes, clipped, layer);
  return /** @type {Plot} */ ({ root, layer, clipped, X, Y, invX, invY, box });
}

/**
 * @param {number} width @param {number} height @param {Axis} x @param {Axis} y @param {Margins} margins
 * @returns {Box}
 */
function plotBox(width, height, x, y, margins) {
  const written =
    y.format === null
      ? []
      : ticksOf(y, height).map((tick) => textWidth((y.format ?? tickText)(tick), TEXT_SIZE));
  const room = {
    left: Math.max(12, ...written.map((each) => each + 14)),
    right: 14,
    top: y.label ? 26 : 10,
    bottom: (x.format === null ? 8 : 24) + (x.label ? 20 : 0),
    ...margins,
  };
  return {
    left: room.left,
    top: room.top,
    width: Math.max(20, width - room.left - room.right),
    height: Math.max(20, height - room.top - room.bottom),
  };
}

/**
 * @param {[number, number]} domain @param {number} from @param {number} to @param {boolean} [log]
 * @returns {[(v: number) => number, (px: number) => number]}
 */
function plotScale(domain, from, to, log = false) {
  const bent = log ? Math.log10 : (/** @type {number} */ v) => v;
  const low = bent(domain[0]);
  const span = bent(domain[1]) - low || 1;
  const back = (/** @type {number} */ v) => (log ? 10 ** v : v);
  return [
    (v) => from + ((bent(v) - low) / span) * (to - from),
    (px) => back(low + ((px - from) / (to - from)) * span),
  ];
}

/**
 * The narrower domain is widened round its middle.
 * @param {[number, number]} x @param {[number, number]} y @param {Box} box
 * @returns {[[number, number], [number, number]]}
 */
function equalDomains(x, y, box) {
  const unit = Math.max((x[1] - x[0]) / box.width, (y[1] - y[0]) / box.height);
  /** @param {[number, number]} domain @param {number} pixels @returns {[number, number]} */
  const widened = (domain, pixels) => {
    const middle = (domain[0] + domain[1]) / 2;
    return [middle - (unit * pixels) / 2, middle + (unit * pixels) / 2];
  };
  return [widened(x, box.width), widened(y, box.height)];
}

/** @param {Axis} axis @param {number} pixels */
function ticksOf(axis, pixels, apart = 44) {
  if (Array.isArray(axis.ticks)) return axis.ticks;
  const count = axis.ticks ?? Math.max(2, Math.min(8, Math.floor(pixels / apart)));
  return (axis.log ? logTicks : niceTicks)(axis.domain[0], axis.domain[1], count);
}

/** @param {Axis} axis @param {(v: number) => number} X @param {Box} box @param {Colours} colours */
function acrossAxis(axis, X, box, colours) {
  const floor = box.top + box.height;
  const format = axis.format === undefined ? tickText : axis.format;
  const ticks = ticksOf(axis, box.width, 72).map((tick) => ({ at: X(tick), text: format?.(tick) ?? "" }));
  const group = s(
    "g",
    { stroke: "none", fill: colours.muted, "text-anchor": "middle" },
    gridRules(`M${box.left} ${floor}h${box.width}`, colours.faint),
    axis.grid !== false &&
      gridRules(ticks.map(({ at }) => `M${at} ${box.top}V${floor}`).join(""), colours.faint, 0.6),
  );
  let free = -Infinity;
  for (const { at, text } of ticks) {
    const half = textWidth(text, TEXT_SIZE) / 2;
    if (!text || at - half < free) continue;
    free = at + half + 8;
    group.append(s("text", { x: at, y: floor + 17 }, text));
  }
  const below = floor + (format === null ? 18 : 37);
  if (axis.label) group.append(s("text", { x: box.left + box.width / 2, y: below }, axis.label));
  return group;
}

/** @param {Axis} axis @param {(v: number) => number} Y @param {Box} box @param {Colours} colours */
function upAxis(axis, Y, box, colours) {
  const format = axis.format === undefined ? tickText : axis.format;
  const ticks = ticksOf(axis, box.height).map((tick) => ({ at: Y(tick), tick }));
  const group = s(
    "g",
    { stroke: "none", fill: colours.muted, "text-anchor": "end" },
    axis.grid !== false &&
      gridRules(ticks.map(({ at }) => `M${box.left} ${at}h${box.width}`).join(""), colours.faint, 0.6),
  );
  let free = Infinity;
  for (const { at, tick } of ticks) {
    if (format === null || at + 7 > free) continue;
    free = at - 7;
    group.append(s("text", { x: box.left - 7, y: at + 4 }, format(tick)));
  }
  if (axis.label) group.append(s("text", { x: 2, y: box.top - 12, "text-anchor": "start" }, axis.label));
  return group;
}

/** All rules of an axis as one element. @param {string} d @param {string} stroke */
function gridRules(d, stroke, opacity = 1) {
  return s("path", { d, stroke, "stroke-opacity": opacity, "shape-rendering": "crispEdges" });
}

/**
 * The `d` of a line through points; a point that is not finite breaks it.
 * @param {Iterable<ArrayLike<number>>} points @param {(v: number) => number} X
 * @param {(v: number) => number} Y
 */
export function pathOf(points, X, Y) {
  let d = "";
  let pen = "M";
  for (const point of points) {
    const [x, y] = [X(point[0]), Y(point[1])];
    if (Number.isFinite(x) && Number.isFinite(y)) d += `${pen}${x.toFixed(2)} ${y.toFixed(2)}`;
    pen = Number.isFinite(x) && Number.isFinite(y) ? "L" : "M";
  }
  return d;
}
