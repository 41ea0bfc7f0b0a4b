// Marks of the geometry panel: tokens, positions, and names that share a spot.

import { s } from "../dom.js";
import { label, spread } from "../marks.js";
import { textWidth } from "../ticks.js";
import { isDrawn } from "./geometry_plane.js";
import { spotName, tokenPaint } from "./places.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../chart.js").Plot} Plot */

const MOST_NAMED = 12; // positions up to which all are named
const SAME_SPOT = 5; // pixels within which names are joined

/**
 * A token as a disc with its name in it.
 * @param {View} view @param {number} token @param {number} x @param {number} y
 */
export function tokenDisc(view, token, x, y, radius = 9) {
  const paint = tokenPaint(view, token);
  const size = paint.label.length > 2 ? 11 : Math.max(11, radius * 1.2);
  const half = Math.max(radius, textWidth(paint.label, size) / 2 + 3);
  const disc = s("rect", {
    x: x - half,
    y: y - radius,
    width: 2 * half,
    height: 2 * radius,
    rx: radius,
    fill: paint.colour,
    stroke: view.colours.paper,
  });
  const text = {
    x,
    y: y + size * 0.36,
    "text-anchor": "middle",
    fill: paint.ink,
    "font-weight": 600,
    "font-size": size,
  };
  return s("g", { "pointer-events": "none", "data-token": token }, disc, s("text", text, paint.label));
}

/**
 * A token among many: a dot with its name as a tooltip.
 * @param {View} view @param {number} token @param {number} x @param {number} y
 */
export function tokenDot(view, token, x, y) {
  const { colour, label: name } = tokenPaint(view, token);
  const look = { fill: colour, stroke: view.colours.paper, "data-token": token };
  return s("circle", { cx: x, cy: y, r: 4, ...look }, s("title", {}, `token ${name}`));
}

/**
 * A position as a dot in the colour of its token; a click makes it the cursor.
 * @param {View} view @param {number} place @param {number} x @param {number} y
 * @param {{shape?: "disc"|"ring"|"square", colour?: string, faint?: boolean, kind?: string,
 *   radius?: number}} [options]
 */
export function placeDot(
  view,
  place,
  x,
  y,
  {
    shape = "disc",
    colour = tokenPaint(view, view.tokens[place]).colour,
    faint = false,
    kind = shape,
    radius = place === view.place ? 6.5 : 4.5,
  } = {},
) {
  const look = {
    fill: shape === "ring" ? view.colours.paper : colour,
    stroke: shape === "ring" ? colour : view.colours.ink,
    "stroke-width": shape === "ring" ? 2.2 : place === view.place ? 1.4 : 0.7,
    opacity: faint ? 0.35 : null,
    cursor: "pointer",
    onclick: () => view.change({ place }),
    "data-place": place,
    "data-kind": kind,
  };
  if (shape === "square")
    return s("rect", { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius, ...look });
  return s("circle", { cx: x, cy: y, r: radius, ...look });
}

/** A star of five points. @param {number} x @param {number} y @param {string} fill @param {string} paper */
export function starMark(x, y, fill, paper, radius = 8) {
  const points = Array.from({ length: 10 }, (_, i) => {
    const [reach, angle] = [i % 2 ? radius * 0.45 : radius, (i * Math.PI) / 5];
    return `${(x + reach * Math.sin(angle)).toFixed(2)},${(y - reach * Math.cos(angle)).toFixed(2)}`;
  });
  return s("polygon", {
    points: points.join(" "),
    fill,
    stroke: paper,
    "stroke-width": 1.2,
    "paint-order": "stroke",
    "pointer-events": "none",
  });
}

/** Thin lines through the origin. @param {Plot} chart @param {View} view */
export function originCross(chart, view) {
  const { left, top, width, height } = chart.box;
  const look = { stroke: view.colours.muted, "stroke-width": 0.8, "stroke-opacity": 0.7 };
  return s(
    "g",
    {},
    s("line", { x1: chart.X(0), x2: chart.X(0), y1: top, y2: top + height, ...look }),
    s("line", { x1: left, x2: left + width, y1: chart.Y(0), y2: chart.Y(0), ...look }),
  );
}

/**
 * The positions with a name: all of a short input; of a long one the cursor and those it attends to.
 * @param {View} view @param {number[]|null} weights of the cursor
 */
export function namedPlaces(view, weights) {
  const all = view.tokens.map((_, place) => place);
  if (all.length <= MOST_NAMED) return all;
  const looked = weights
    ? all
        .filter((place) => weights[place] > 0.02)
        .sort((a, b) => weights[b] - weights[a])
        .slice(0, 5)
    : [];
  return [...new Set([view.place, ...looked])].sort((a, b) => a - b);
}

/** The positions whose arrows are drawn: those that write, and the cursor. @param {View} view */
export function movingPlaces(view) {
  return [...new Set([...view.family.writingPlaces(view), view.place])].sort((a, b) => a - b);
}

/**
 * Names next to their spots; those of one spot are joined, and none covers another.
 * @param {Plot} chart @param {View} view @param {Array<{spot: number[], text: string, strong?: boolean}>} names
 * @param {number[][]} [discs] spots that are to stay free
 */
export function namesAt(chart, view, names, discs = []) {
  /** @type {Array<{x: number, y: number, texts: string[], strong: boolean}>} */
  const groups = [];
  for (const { spot, text, strong = false } of names) {
    if (!isDrawn(spot)) continue;
    const [x, y] = [chart.X(spot[0]), chart.Y(spot[1])];
    const known = groups.find((group) => Math.hypot(group.x - x, group.y - y) < SAME_SPOT);
    if (known) known.strong = known.strong || strong;
    if (known) known.texts.push(text);
    else groups.push({ x, y, texts: [text], strong });
  }
  const placed = spread(
    groups.map(({ x, y, texts, strong }) => ({ x, y, text: joinedNames(texts), strong, size: 11 })),
    { box: chart.box, discs: discs.filter(isDrawn).map((spot) => [chart.X(spot[0]), chart.Y(spot[1])]) },
  );
  return placed.map(({ x, y, text, anchor, strong }) =>
    label(x, y, text, { colours: view.colours, size: 11, anchor, weight: strong ? 700 : 400 }),
  );
}

/** @param {string[]} texts */
function joinedNames(texts) {
  const few = texts.slice(0, 3).join(", ");
  return texts.length > 3 ? `${few} +${texts.length - 3}` : few;
}

/** @param {View} view @param {number} place @param {number[]} spot */
export function placeNameAt(view, place, spot) {
  return { spot, text: spotName(view, place), strong: place === view.place };
}
