// What changed from the first model to the second, over depth: its norm, its rank, and the directions kept.

import { pathOf, plot } from "../../../pages/assets/chart.js";
import { h, s } from "../../../pages/assets/dom.js";
import { capital, short } from "../../../pages/assets/numbers.js";
import { extent } from "../../../pages/assets/ticks.js";
import { tip } from "../../../pages/assets/tip.js";
import { rove } from "../../../pages/assets/rove.js";
import { dropDown } from "./choices.js";
import { spectraFrame } from "./data.js";
import { CHANGE_COLUMNS } from "./state.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./data.js").Frame} Frame */
/** @typedef {import("./data.js").FrameColumn} FrameColumn */
/** @typedef {import("../../../pages/assets/chart.js").Plot} Plot */

/** @typedef {ReturnType<typeof changeLines>[number]} ChangeLine */

/** @type {Frame|null} */
let changeFrame = null;

/** @param {View} view */
function comparedFrame(view) {
  changeFrame ??= spectraFrame(view.payload.comparison.comparison ?? []);
  return changeFrame;
}

export const changePanel = {
  id: "change",
  title: "What changed",
  wide: true,
  missing: (/** @type {View} */ view) =>
    changeNumbers(view).length
      ? null
      : "The two models share no weights of one shape, so their weights were not subtracted.",
  about: (/** @type {View} */ view) => {
    const column = changeColumn(view);
    const [first, second] = view.models;
    const shown = `${capital(column.label)} of every weight type over the layers`;
    return `${shown}, from ${first.name} to ${second.name}: ${column.about}.`;
  },
  draw: drawChange,
};

/** @param {View} view */
function changeNumbers(view) {
  return CHANGE_COLUMNS.filter((name) => comparedFrame(view).has(name));
}

/** @param {View} view */
function changeColumn(view) {
  const known = changeNumbers(view);
  return comparedFrame(view).column(known.includes(view.state.changed) ? view.state.changed : known[0]);
}

/**
 * Points of each type: layer, number and row; experts are points of their own.
 * @param {View} view @param {FrameColumn} column
 */
function changeLines(view, column) {
  const frame = comparedFrame(view);
  /** @type {Map<string, number[][]>} */
  const lines = new Map();
  for (let row = 0; row < frame.rows; row++) {
    const [layer, type] = [frame.value("layer_idx", row), frame.text("weight_type", row)];
    if (layer >= 0 && Number.isFinite(column.data[row]))
      lines.set(type, [...(lines.get(type) ?? []), [layer, column.data[row], row]]);
  }
  return [...lines].map(([type, points], i) => ({ type, points, colour: view.lines[i % view.lines.length] }));
}

/** @param {View} view @param {number} width @returns {import("../../../pages/assets/types.js").Drawing} */
function drawChange(view, width) {
  const { colours } = view;
  const column = changeColumn(view);
  const lines = changeLines(view, column);
  const points = lines.flatMap((one) => one.points);
  const layers = points.map((point) => point[0]);
  const x = {
    domain: /** @type {[number, number]} */ ([Math.min(...layers, 0) - 0.6, Math.max(...layers, 0) + 0.6]),
    label: "layer",
    ticks: [...new Set(layers)].filter((_, i, all) => i % Math.ceil((all.length * 40) / width) === 0),
  };
  const y = { domain: extent([0, ...points.map((point) => point[1])], 0.06), label: column.label };
  const chart = plot({ width, height: 320, x, y, colours, margins: { top: 34, right: 20 } });
  chart.clipped.append(
    ...lines.map((one) =>
      s("path", {
        d: pathOf(one.points, chart.X, chart.Y),
        fill: "none",
        stroke: one.colour,
        "stroke-width": 1.7,
      }),
    ),
  );
  const dots = lines.map((one) => one.points.map((point) => changeDot(view, chart, one, point)));
  chart.layer.append(...dots.flat());
  if (dots.length) rove(chart.root, dots);
  chart.root.setAttribute("role", "group");
  const node = h("div", {}, changeKey(lines), chart.root);
  const rows = lines.flatMap((one) => one.points.map(([layer, value]) => [one.type, layer, value]));
  const numbers = changeNumbers(view).map(
    (name) => /** @type {[string, string]} */ ([name, comparedFrame(view).column(name).label]),
  );
  return {
    node,
    alt: `${column.label} of ${lines.length} weight types over the layers.`,
    table: { columns: ["weight_type", "layer", column.name], rows },
    controls: [dropDown("changed", "Measure", numbers, column.name, (changed) => view.set({ changed }))],
  };
}

/** @param {ChangeLine[]} lines */
function changeKey(lines) {
  return h(
    "div",
    { class: "key" },
    lines.map((one) =>
      h(
        "span",
        {},
        h("span", { class: "swatch", style: `background: ${one.colour}`, "aria-hidden": "true" }),
        one.type,
      ),
    ),
  );
}

/** @param {View} view @param {Plot} chart @param {ChangeLine} one @param {number[]} point */
function changeDot(view, chart, one, [layer, value, row]) {
  const expert = comparedFrame(view).value("expert", row);
  const weight = `${layer}:${one.type}:raw${Number.isNaN(expert) ? "" : `:${expert}`}`;
  const isHere = weight === view.state.weight;
  const dot = s("circle", {
    cx: chart.X(layer),
    cy: chart.Y(value),
    r: isHere ? 6 : 3.4,
    fill: one.colour,
    stroke: isHere ? view.colours.ink : view.colours.paper,
    "stroke-width": isHere ? 2 : 1,
    tabindex: -1,
    role: "button",
    cursor: "pointer",
    "data-key": `change ${weight}`,
    "aria-label": `${one.type}, layer ${layer}: ${short(value)}`,
    onclick: () => view.set({ weight }),
  });
  return tip(dot, () => [h("strong", {}, `${one.type}, layer ${layer}`), h("div", {}, short(value, 6))]);
}
