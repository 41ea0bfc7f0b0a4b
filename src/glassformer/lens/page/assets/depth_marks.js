// What is drawn of a weight type over depth: its line, the levels of its phases, its points and its name.

import { pathOf } from "../../../pages/assets/chart.js";
import { readableColour } from "../../../pages/assets/colour.js";
import { h, s } from "../../../pages/assets/dom.js";
import { label } from "../../../pages/assets/marks.js";
import { short } from "../../../pages/assets/numbers.js";
import { rove } from "../../../pages/assets/rove.js";
import { tip } from "../../../pages/assets/tip.js";
import { weightKey } from "./data.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./types.js").ShownCourse} ShownCourse */
/** @typedef {import("../../../pages/assets/chart.js").Plot} Plot */
/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */

const MANY_LAYERS = 48; // from which on only the selected type has points
const HERE = 6; // radius of the selected point

/** @param {ShownCourse} one @param {Plot} chart @param {string} measure */
export function depthLine(one, chart, measure) {
  const points = one.layers.map((layer, i) => [layer, one.series[measure][i] ?? NaN]);
  return s("path", {
    d: pathOf(points, chart.X, chart.Y),
    fill: "none",
    stroke: one.colour,
    "stroke-width": one.isChosen ? 2.6 : 1.5,
    "stroke-dasharray": one.which ? "5 3" : null,
    "stroke-linejoin": "round",
  });
}

/**
 * Thirds of the layers, and the levels between change points.
 * @param {ShownCourse} one @param {Plot} chart @param {string} measure
 */
export function phaseMarks(one, chart, measure) {
  const said = one.said[measure];
  if (!said || one.which || one.layers.length < 2) return [];
  const starts = [one.layers[0], ...said.phases.change_points];
  return said.phases.segments.map((level, i) => {
    const to = i + 1 < starts.length ? starts[i + 1] - 0.5 : one.layers[one.layers.length - 1] + 0.5;
    return s("line", {
      x1: chart.X(starts[i] - 0.5),
      x2: chart.X(to),
      y1: chart.Y(level),
      y2: chart.Y(level),
      stroke: one.colour,
      "stroke-width": 9,
      "stroke-opacity": 0.22,
    });
  });
}

/**
 * Names at the ends of the lines, apart from each other.
 * @param {ShownCourse[]} courses @param {Plot} chart @param {string} measure @param {View} view
 */
export function endLabels(courses, chart, measure, view) {
  const ends = courses
    .map((one) => {
      const known = one.series[measure].filter((value) => value !== null);
      return { one, at: known.length ? chart.Y(known[known.length - 1]) : NaN };
    })
    .filter((end) => Number.isFinite(end.at))
    .sort((a, b) => a.at - b.at);
  let free = -Infinity;
  for (const end of ends) [end.at, free] = [Math.max(end.at, free), Math.max(end.at, free) + 14];
  const over = Math.max(0, free - 14 - (chart.box.top + chart.box.height));
  const x = chart.box.left + chart.box.width + 6;
  return ends.map(({ one, at }) =>
    label(x, at - over, one.name, {
      colours: view.colours,
      colour: readableColour(one.colour, view.colours),
      size: 12,
      weight: one.isChosen ? 700 : 400,
      halo: null,
    }),
  );
}

/**
 * The points of every course: one tab stop, and the largest on top.
 * @param {View} view @param {Plot} chart @param {ShownCourse[]} courses
 */
export function depthPoints(view, chart, courses) {
  const rows = courses.map((one) => one.layers.map((_, i) => depthPoint(view, chart, one, i)));
  const points = rows.flat().filter((point) => point !== null);
  const size = (/** @type {Element} */ point) => Number(point.getAttribute("r"));
  rove(chart.root, rows);
  const here = points.find((point) => size(point) === HERE);
  if (here) for (const point of points) point.setAttribute("tabindex", point === here ? "0" : "-1");
  chart.layer.append(...points.sort((a, b) => size(a) - size(b)));
  chart.root.setAttribute("role", "group");
}

/**
 * A weight of one layer; null where its number is not known.
 * @param {View} view @param {Plot} chart @param {ShownCourse} one @param {number} i
 */
function depthPoint(view, chart, one, i) {
  const { measure, weight } = view.state;
  const [value, layer] = [one.series[measure][i], one.layers[i]];
  if (value === null) return null;
  /** @type {string[]} */
  const keys = one.rows[i].map((/** @type {number} */ row) => weightKey(one.model.weights, row));
  const isHere = keys.includes(weight);
  const point = s("circle", {
    cx: chart.X(layer),
    cy: chart.Y(value),
    ...pointPaint(view.colours, one, isHere),
    tabindex: -1,
    "data-key": keys[0],
    role: "button",
    "aria-label": `${one.name}, layer ${layer}: ${short(value, 5)}`,
    onclick: () => view.set({ weight: keys[0] }),
    onfocus: () => view.store.get().weight === weight && !isHere && view.set({ weight: keys[0] }),
  });
  const experts = keys.length > 1 ? ` (mean of ${keys.length} experts)` : "";
  return tip(point, () => [
    h("strong", {}, `${one.name}, layer ${layer}`),
    h("div", {}, `${short(value, 6)}${experts}`),
  ]);
}

/** @param {Colours} colours @param {ShownCourse} one @param {boolean} isHere */
function pointPaint(colours, one, isHere) {
  const isBare = !one.isChosen && one.layers.length > MANY_LAYERS;
  return {
    r: isHere ? HERE : one.isChosen ? 4 : 3,
    fill: isBare ? "none" : one.colour,
    stroke: isHere ? colours.ink : colours.paper,
    "stroke-width": isHere ? 2 : isBare ? 0 : 1,
    "pointer-events": "all",
    cursor: "pointer",
  };
}
