// One weight matrix: its singular values beside those of the other layers and of a random matrix of its shape.

import { h } from "../../../pages/assets/dom.js";
import { unpack } from "../../../pages/assets/unpack.js";
import { spectrumPlot } from "./curves.js";
import { componentsOf, numbersOf } from "./data.js";
import { shownCourses } from "./depth_panel.js";
import { factsTable } from "./facts.js";
import { PLACE_COLUMNS } from "./state.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./types.js").Model} Model */

const MOST_BEHIND = 130; // curves of other layers

export const weightPanel = {
  id: "weight",
  title: "One weight",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models[0].weights.rows
      ? null
      : "The weight matrices were not read (only the heads were analysed).",
  about: (/** @type {View} */ view) => {
    const [{ model, row }] = chosenWeights(view);
    const { weights } = model;
    const tensor = weights.text("tensor", row);
    const stored = weights.has("dtype") ? `, stored as ${weights.text("dtype", row)}` : "";
    return (
      `${weightName(model, row)}, ${weights.text("shape", row).replace("x", " × ")} ` +
      `(outputs × inputs)${stored}${tensor ? `: ${tensor}` : ""}.`
    );
  },
  draw: drawWeight,
};

/** @param {Model} model @param {number} row */
function weightName({ weights }, row) {
  const [layer, expert] = [weights.value("layer_idx", row), weights.value("expert", row)];
  const place = layer < 0 ? "" : ` of layer ${layer}`;
  const among = Number.isNaN(expert) ? "" : `, expert ${expert}`;
  const treatment = weights.text("treatment", row);
  return `${weights.text("weight_type", row)}${place}${among}${treatment === "raw" ? "" : ` (${treatment})`}`;
}

/** The chosen weight in each model that has it (one at least), and what changed. @param {View} view */
function chosenWeights(view) {
  const all = [...view.models, ...(view.change ? [view.change] : [])];
  return all
    .map((model) => ({ model, row: model.weightRows.get(view.state.weight) ?? -1 }))
    .filter((one) => one.row >= 0);
}

/** @param {View} view @param {number} width @returns {import("../../../pages/assets/types.js").Drawing} */
function drawWeight(view, width) {
  const { colours } = view;
  const chosen = chosenWeights(view);
  const paints = [colours.accent, colours.negative, colours.good];
  const many = chosen.length > 1;
  const curves = chosen
    .map(({ model, row }) => {
      const values = model.weightValues(row);
      const paint = paints[model === view.change ? 2 : view.models.indexOf(model)];
      return {
        components: values.length ? componentsOf(model, row, values.length) : [],
        values,
        colour: paint,
        words: many ? model.name : "this matrix",
        width: 2.2,
      };
    })
    .filter((one) => one.values.length);
  const side = width >= 900 ? Math.floor(width * 0.62) : width;
  const plotted = curves.length
    ? spectrumPlot({
        curves: [...curvesBehind(view), ...curves, ...randomCurve(view)],
        width: side,
        height: 400,
        colours,
        title: "singular values",
        log: true,
      })
    : h("p", { class: "muted" }, "The singular values of this weight are not in this page.");
  const facts = factsTable(
    numbersOf(view.models[0].weights, PLACE_COLUMNS),
    chosen.map(({ model, row }) => ({ title: many ? model.name : "value", frame: model.weights, row })),
  );
  const node = h("div", { class: "beside" }, h("div", {}, plotted), facts);
  return { node, alt: weightAlt(view), table: weightNumbers(chosen), note: weightNote(view, curves.length) };
}

/** The same type in the other layers, faint. @param {View} view */
function curvesBehind(view) {
  const course = shownCourses(view).find((one) => one.isChosen && one.which === 0);
  if (!course || view.models.length > 1) return [];
  const rows = course.rows.map((/** @type {number[]} */ each) => each[0]);
  const every = Math.ceil(rows.length / MOST_BEHIND);
  return rows
    .filter((/** @type {number} */ _, /** @type {number} */ i) => i % every === 0)
    .flatMap((/** @type {number} */ row) => {
      const values = course.model.weightValues(row);
      return values.length
        ? [
            thinCurve({
              components: componentsOf(course.model, row, values.length),
              values,
              colour: view.colours.muted,
              words: "",
              width: 0.8,
              opacity: 0.3,
            }),
          ]
        : [];
    });
}

/** Fewer points where they are close together on the screen. @param {import("./curves.js").Curve} curve */
function thinCurve(curve) {
  const places = new Set(
    Array.from({ length: 160 }, (_, i) => Math.round(curve.values.length ** (i / 159)) - 1),
  );
  const kept = [...places];
  return {
    ...curve,
    components: kept.map((at) => curve.components[at]),
    values: kept.map((at) => curve.values[at]),
  };
}

/** @param {View} view */
function randomCurve(view) {
  const [{ model, row }] = chosenWeights(view);
  const packed = model.random.weights[model.weights.text("shape", row)];
  if (!packed) return [];
  const norm = model.weights.value("frobenius", row);
  const values = unpack(packed).data.map((value) => value * norm);
  return [
    {
      components: componentsOf(model, row, values.length),
      values,
      colour: view.colours.ink,
      words: "random matrix of this shape and norm",
      dash: "5 3",
      width: 1.4,
    },
  ];
}

/** @param {View} view @param {number} shown */
function weightNote(view, shown) {
  if (!shown) return "";
  const behind =
    view.models.length === 1 && curvesBehind(view).length > 1
      ? " Thin lines: the same type in the other layers."
      : "";
  return (
    "Dashed: quantiles of the Marchenko-Pastur law " +
    `for independent weights.${behind} Values below 1e−7 of the largest are not drawn.`
  );
}

/** @param {View} view */
function weightAlt(view) {
  const [{ model, row }] = chosenWeights(view);
  return (
    `Singular values of ${weightName(model, row)}: effective rank ` +
    `${model.weights.value("eff_rank", row).toFixed(1)}, ` +
    `largest ${model.weights.value("largest", row).toPrecision(4)}.`
  );
}

/** @param {Array<{model: Model, row: number}>} chosen */
function weightNumbers(chosen) {
  const rows = chosen.flatMap(({ model, row }) => {
    const values = model.weightValues(row);
    const components = values.length ? componentsOf(model, row, values.length) : [];
    return Array.from(values, (value, i) => [model.name, weightName(model, row), components[i], value]);
  });
  return { columns: ["model", "weight", "component", "singular_value"], rows };
}
