// Weight types over depth: a line a type, its phases, and whether a test stands behind its trend.

import { pathOf, plot } from "../chart.js";
import { contrast, mix } from "../colour.js";
import { h, s } from "../dom.js";
import { label } from "../marks.js";
import { short } from "../numbers.js";
import { rove } from "../rove.js";
import { extent } from "../ticks.js";
import { tip } from "../tip.js";
import { dropDown } from "./choices.js";
import { coursesTable } from "./courses.js";
import { textsOf, weightKey } from "./data.js";

const MANY_LAYERS = 48; // from which on points of types that are not looked at are left away

export const depthPanel = {
  id: "depth",
  title: "Weights over depth",
  wide: true,
  missing: (/** @type {any} */ view) =>
    view.models[0].courses.length
      ? null
      : view.models[0].weights.rows
        ? "No weight matrix of this model belongs to a layer."
        : "The weight matrices were not read (the analysis was of the heads alone).",
  about: (/** @type {any} */ view) => {
    const { label: name, about } = depthColumn(view);
    return `${name[0].toUpperCase()}${name.slice(1)} of every weight type over the layers${about ? `: ${about}` : ""}. Matrices of different shapes are never averaged. Choose a point to see its singular values.`;
  },
  draw: drawDepth,
};

/** @param {any} view */
function depthColumn(view) {
  return view.models[0].weights.column(view.state.measure);
}

/**
 * Courses under the chosen treatment, with their colours; weights that have none of it are shown raw.
 * @param {any} view
 */
export function shownCourses(view) {
  const { models, state, lines } = view;
  const names = [
    ...new Set(
      models.flatMap((/** @type {any} */ model) => model.courses.map((/** @type {any} */ one) => one.name)),
    ),
  ];
  return models.flatMap((/** @type {any} */ model, /** @type {number} */ which) => {
    const there = new Set(model.courses.map((/** @type {any} */ one) => one.treatment));
    const treatment = there.has(state.treatment) ? state.treatment : "raw";
    return model.courses
      .filter((/** @type {any} */ one) => one.treatment === treatment)
      .map((/** @type {any} */ one) => ({
        ...one,
        model,
        which,
        colour: lines[names.indexOf(one.name) % lines.length],
        isChosen: isChosenCourse(view, model, one),
      }));
  });
}

/** @param {any} view @param {any} model @param {any} course */
function isChosenCourse(view, model, course) {
  const row = model.weightRows.get(view.state.weight);
  return (
    row !== undefined &&
    model.weights.text("weight_type", row) === course.type &&
    model.weights.text("shape", row) === course.shape
  );
}

/** @param {any} view @param {number} width @returns {import("../types.js").Drawing} */
function drawDepth(view, width) {
  const { colours, state } = view;
  const column = depthColumn(view);
  const courses = shownCourses(view);
  const values = courses.flatMap((one) => one.series[state.measure]).filter((value) => value !== null);
  const log = column.scale === "log" && values.every((value) => value > 0);
  const layers = courses.flatMap((one) => one.layers);
  const room = layers.length > 12 ? 0.9 : 0.5;
  const x = {
    domain: /** @type {[number, number]} */ ([Math.min(...layers) - room, Math.max(...layers) + room]),
    label: "layer",
    ticks: wholeTicks(layers, width),
  };
  const y = { domain: log ? logExtent(values) : extent(values, 0.06), label: column.label, log };
  const chart = plot({
    width,
    height: width < 560 ? 340 : 420,
    x,
    y,
    colours,
    margins: { right: width < 560 ? 62 : 84, top: 34 },
  });
  const ordered = [...courses].sort((a, b) => Number(a.isChosen) - Number(b.isChosen));
  chart.clipped.append(
    ...ordered.filter((one) => one.isChosen).flatMap((one) => phaseMarks(one, chart, state.measure)),
  );
  chart.clipped.append(...ordered.map((one) => depthLine(one, chart, state.measure)));
  chart.layer.append(
    ...endLabels(
      courses.filter((one) => one.which === 0),
      chart,
      state.measure,
      view,
    ),
  );
  depthPoints(
    view,
    chart,
    courses.filter((one) => one.which === 0),
  );
  const node = h("div", {}, chart.root, coursesTable(view, courses));
  return {
    node,
    alt: depthAlt(view, courses, column),
    table: depthNumbers(view, courses),
    note: depthNote(view, courses),
    controls: depthControls(view),
  };
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

/** @param {any} one @param {any} chart @param {string} measure */
function depthLine(one, chart, measure) {
  const points = one.layers.map((/** @type {number} */ layer, /** @type {number} */ i) => [
    layer,
    one.series[measure][i] ?? NaN,
  ]);
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
 * @param {any} one @param {any} chart @param {string} measure
 */
function phaseMarks(one, chart, measure) {
  const said = one.said[measure];
  if (!said || one.which || one.layers.length < 2) return [];
  const starts = [one.layers[0], ...said.phases.change_points];
  return said.phases.segments.map((/** @type {number} */ level, /** @type {number} */ i) => {
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
 * @param {any[]} courses @param {any} chart @param {string} measure @param {any} view
 */
function endLabels(courses, chart, measure, view) {
  const ends = courses
    .map((one) => {
      const known = one.series[measure]
        .map((/** @type {number|null} */ value, /** @type {number} */ i) => [value, one.layers[i]])
        .filter((/** @type {any[]} */ pair) => pair[0] !== null);
      return { one, at: known.length ? chart.Y(known[known.length - 1][0]) : NaN };
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
 * A line's colour, so far towards the ink that it can be read as a text.
 * @param {string} colour @param {any} colours
 */
function readableColour(colour, colours) {
  const shares = [1, 0.85, 0.7, 0.55, 0.4];
  return (
    shares
      .map((share) => mix(colour, colours.ink, share))
      .find((one) => contrast(one, colours.paper) >= 4.5) ?? colours.ink
  );
}

/** @param {any} view @param {any} chart @param {any[]} courses */
function depthPoints(view, chart, courses) {
  const { measure, weight } = view.state;
  const rows = courses.map((one) =>
    one.layers.map((/** @type {number} */ layer, /** @type {number} */ i) => {
      const value = one.series[measure][i];
      if (value === null) return null;
      const key = weightKey(one.model.weights, one.rows[i][0]);
      const isHere = one.rows[i].some(
        (/** @type {number} */ row) => weightKey(one.model.weights, row) === weight,
      );
      const isBare = !one.isChosen && one.layers.length > MANY_LAYERS;
      const point = s("circle", {
        cx: chart.X(layer),
        cy: chart.Y(value),
        r: isHere ? 6 : one.isChosen ? 4 : 3,
        fill: isBare ? "none" : one.colour,
        "pointer-events": "all",
        cursor: "pointer",
        tabindex: -1,
        stroke: isHere ? view.colours.ink : view.colours.paper,
        "stroke-width": isHere ? 2 : isBare ? 0 : 1,
        "data-key": key,
        role: "button",
        "aria-label": `${one.name}, layer ${layer}: ${short(value, 5)}`,
        onclick: () => view.set({ weight: key }),
        onfocus: () => view.store.get().weight === weight && !isHere && view.set({ weight: key }),
      });
      const experts = one.rows[i].length > 1 ? ` (mean of ${one.rows[i].length} experts)` : "";
      return tip(point, () => [
        h("strong", {}, `${one.name}, layer ${layer}`),
        h("div", {}, `${short(value, 6)}${experts}`),
      ]);
    }),
  );
  const longest = Math.max(...rows.map((row) => row.length));
  rove(
    chart.root,
    rows.map((row) => Array.from({ length: longest }, (_, i) => row[i] ?? null)),
  );
  const here = rows.flat().find((point) => point?.getAttribute("r") === "6");
  if (here) for (const point of rows.flat()) point?.setAttribute("tabindex", point === here ? "0" : "-1");
  chart.layer.append(
    ...rows
      .flat()
      .filter(Boolean)
      .sort((a, b) => Number(a.getAttribute("r")) - Number(b.getAttribute("r"))),
  );
  chart.root.setAttribute("role", "group");
}

/** @param {any} view */
function depthControls(view) {
  const { courses, weights } = view.models[0];
  const numbers = Object.keys(courses[0].series).map(
    (name) => /** @type {[string, string]} */ ([name, weights.column(name).label]),
  );
  const treatments = textsOf(weights, "treatment").map((one) => /** @type {[string, string]} */ ([one, one]));
  return [
    dropDown("measure", "Number", numbers, view.state.measure, (measure) => view.set({ measure })),
    ...(treatments.length > 1
      ? [
          dropDown("weight-treatment", "Treatment", treatments, view.state.treatment, (treatment) =>
            view.set({ treatment }),
          ),
        ]
      : []),
  ];
}

/** @param {any} view @param {any[]} courses */
function depthNote(view, courses) {
  const chosen = courses.find((one) => one.isChosen && one.which === 0);
  const two = view.models.length > 1 ? ` Solid: ${view.models[0].name}; dashed: ${view.models[1].name}.` : "";
  if (!chosen?.said[view.state.measure]) return two.trim();
  const { phases } = chosen.said[view.state.measure];
  const points = phases.change_points;
  const levels = points.length
    ? `its level changes at layer ${points.join(", ")} (broad bars)`
    : "no change of its level is found";
  return `${chosen.name}: ${levels}.${two} A trend is a word about the thirds; a test at 5% says whether it could be noise.`;
}

/** @param {any} view @param {any[]} courses @param {any} column */
function depthAlt(view, courses, column) {
  const said = courses
    .filter((one) => one.said[view.state.measure])
    .map((one) => `${one.name} ${one.said[view.state.measure].words}`);
  return `${column.label} over ${view.models[0].layers} layers. ${said.join("; ")}.`;
}

/** @param {any} view @param {any[]} courses */
function depthNumbers(view, courses) {
  const rows = courses.flatMap((one) =>
    one.layers.map((/** @type {number} */ layer, /** @type {number} */ i) => [
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
