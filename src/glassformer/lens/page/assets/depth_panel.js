// Weight types over depth: one line per type, its phases, and the test of its trend.

import { plot } from "../../../pages/assets/chart.js";
import { h } from "../../../pages/assets/dom.js";
import { capital } from "../../../pages/assets/numbers.js";
import { extent } from "../../../pages/assets/ticks.js";
import { dropDown, treatmentChoice } from "./choices.js";
import { coursesTable } from "./courses.js";
import { depthLine, depthPoints, endLabels, phaseMarks } from "./depth_marks.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./data.js").FrameColumn} FrameColumn */
/** @typedef {import("./types.js").ShownCourse} ShownCourse */
/** @typedef {import("./types.js").Course} Course */

export const depthPanel = {
  id: "depth",
  title: "Weights over depth",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models[0].courses.length
      ? null
      : view.models[0].weights.rows
        ? "No weight matrix of this model belongs to a layer."
        : "The weight matrices were not read (only the heads were analysed).",
  about: (/** @type {View} */ view) => {
    const { label: name, about } = depthColumn(view);
    const shown = `${capital(name)} of every weight type over the layers${about ? `: ${about}` : ""}.`;
    return (
      `${shown} Matrices of different shapes are never averaged. ` +
      "Choose a point to see its singular values."
    );
  },
  draw: drawDepth,
};

/** @param {View} view */
function depthColumn(view) {
  return view.models[0].weights.column(view.state.measure);
}

/**
 * Courses under the chosen treatment, with their colours; weights that have none of it are shown raw.
 * @param {View} view @returns {ShownCourse[]}
 */
export function shownCourses(view) {
  const { models, state, lines } = view;
  const names = [...new Set(models.flatMap((model) => model.courses.map((one) => one.name)))];
  return models.flatMap((model, which) => {
    const there = new Set(model.courses.map((one) => one.treatment));
    const treatment = there.has(state.treatment) ? state.treatment : "raw";
    return model.courses
      .filter((one) => one.treatment === treatment)
      .map((one) => ({
        ...one,
        model,
        which,
        colour: lines[names.indexOf(one.name) % lines.length],
        isChosen: isChosenCourse(view, model, one),
      }));
  });
}

/** @param {View} view @param {Model} model @param {Course} course */
function isChosenCourse(view, model, course) {
  const row = model.weightRows.get(view.state.weight);
  return (
    row !== undefined &&
    model.weights.text("weight_type", row) === course.type &&
    model.weights.text("shape", row) === course.shape
  );
}

/** @param {View} view @param {number} width @returns {import("../../../pages/assets/types.js").Drawing} */
function drawDepth(view, width) {
  const { measure } = view.state;
  const courses = shownCourses(view);
  const chart = depthChart(view, courses, width);
  const ordered = [...courses].sort((a, b) => Number(a.isChosen) - Number(b.isChosen));
  const chosen = ordered.filter((one) => one.isChosen);
  const first = courses.filter((one) => one.which === 0);
  chart.clipped.append(...chosen.flatMap((one) => phaseMarks(one, chart, measure)));
  chart.clipped.append(...ordered.map((one) => depthLine(one, chart, measure)));
  chart.layer.append(...endLabels(first, chart, measure, view));
  depthPoints(view, chart, first);
  return {
    node: h("div", {}, chart.root, coursesTable(view, courses)),
    alt: depthAlt(view, courses, depthColumn(view)),
    table: depthNumbers(view, courses),
    note: depthNote(view, courses),
    controls: depthControls(view),
  };
}

/**
 * The frame that all courses fit into.
 * @param {View} view @param {ShownCourse[]} courses @param {number} width
 */
function depthChart(view, courses, width) {
  const column = depthColumn(view);
  /** @type {number[]} */
  const values = courses.flatMap((one) => one.series[view.state.measure]).filter((value) => value !== null);
  const log = column.scale === "log" && values.every((value) => value > 0);
  /** @type {number[]} */
  const layers = courses.flatMap((one) => one.layers);
  const room = layers.length > 12 ? 0.9 : 0.5;
  const isNarrow = width < 560;
  return plot({
    width,
    height: isNarrow ? 340 : 420,
    x: {
      domain: [Math.min(...layers) - room, Math.max(...layers) + room],
      label: "layer",
      ticks: wholeTicks(layers, width),
    },
    y: { domain: log ? logExtent(values) : extent(values, 0.06), label: column.label, log },
    colours: view.colours,
    margins: { right: isNarrow ? 62 : 84, top: 34 },
  });
}

/** @param {number[]} values @returns {[number, number]} */
function logExtent(values) {
  return [Math.min(...values) / 1.2, Math.max(...values) * 1.2];
}

/** @param {number[]} layers @param {number} width */
function wholeTicks(layers, width) {
  const [low, high] = [Math.min(...layers), Math.max(...layers)];
  const step = [1, 2, 5, 10, 20, 50].find((each) => (high - low) / each <= width / 60) ?? 100;
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, i) => first + i * step);
}

/** @param {View} view */
function depthControls(view) {
  const { courses, weights } = view.models[0];
  const numbers = Object.keys(courses[0].series).map(
    (name) => /** @type {[string, string]} */ ([name, weights.column(name).label]),
  );
  return [
    dropDown("measure", "Measure", numbers, view.state.measure, (measure) => view.set({ measure })),
    ...treatmentChoice("weight-treatment", weights, view),
  ];
}

/** @param {View} view @param {ShownCourse[]} courses */
function depthNote(view, courses) {
  const chosen = courses.find((one) => one.isChosen && one.which === 0);
  const two = view.models.length > 1 ? ` Solid: ${view.models[0].name}; dashed: ${view.models[1].name}.` : "";
  if (!chosen?.said[view.state.measure]) return two.trim();
  const { phases } = chosen.said[view.state.measure];
  const points = phases.change_points;
  const levels = points.length
    ? `its level changes at layer ${points.join(", ")} (wide bars)`
    : "its level does not change";
  const trend = "A trend compares thirds of the layers; a test at the 5% level says if it could be noise.";
  return `${chosen.name}: ${levels}.${two} ${trend}`;
}

/** @param {View} view @param {ShownCourse[]} courses @param {FrameColumn} column */
function depthAlt(view, courses, column) {
  const said = courses
    .filter((one) => one.said[view.state.measure])
    .map((one) => `${one.name} ${one.said[view.state.measure].words}`);
  return `${column.label} over ${view.models[0].layers} layers. ${said.join("; ")}.`;
}

/** @param {View} view @param {ShownCourse[]} courses */
function depthNumbers(view, courses) {
  const rows = courses.flatMap((one) =>
    one.layers.map((layer, i) => [
      one.model.name,
      one.name,
      one.shape,
      one.treatment,
      layer,
      one.series[view.state.measure][i],
    ]),
  );
  return { columns: ["model", "weight_type", "shape", "treatment", "layer", view.state.measure], rows };
}
