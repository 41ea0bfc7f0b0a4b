// All seeds of a run: final measures, verdicts and loss curves. A click switches the page to a seed's model.

import { svgRoot } from "../chart.js";
import { h } from "../dom.js";
import { grouped, short } from "../numbers.js";
import { SEED_AXES, firstSeedAxis, openedSeed, seedCurves, seedScatter } from "./seeds.js";

/** @typedef {import("../types.js").PopulationView} View */

const POPULATION_PLOT = 320;
const SIDE_BY_SIDE = 720; // pixels from which both pictures stand in a row

/** What the axes show; a link does not keep it. */
const populationAxes = { x: "", y: "error" };

/** @type {import("../types.js").Panel<View>} */
export const populationPanel = {
  id: "population",
  title: "All seeds",
  wide: true,
  about: () =>
    "Each seed is the same training from another random start: " +
    "the spread shows how much of a result is luck.",
  missing: (view) =>
    isCrowd(view)
      ? null
      : (view.payload.missing.population ?? "This run has one seed: there is nothing to compare."),
  draw: (view, width) => ({
    node: populationPicture(view, width),
    alt: populationWords(view),
    table: populationTable(view),
    note: populationNote(view),
    controls: [axisChooser(view, "x", "x"), axisChooser(view, "y", "y"), seedChooser(view)].filter(
      (one) => one !== null,
    ),
  }),
};

/** @param {View} view */
function isCrowd(view) {
  return (view.payload.population?.rows.length ?? 0) > 1;
}

/** @param {View} view @param {number} width */
function populationPicture(view, width) {
  populationAxes.x ||= firstSeedAxis(view);
  const isRow = width >= SIDE_BY_SIDE;
  const each = isRow ? (width - 24) / 2 : width;
  const charts = [seedScatter(view, each, POPULATION_PLOT, populationAxes)];
  if (view.payload.population.steps.length > 1) charts.push(seedCurves(view, each, POPULATION_PLOT));
  charts.forEach((chart, i) => {
    chart.root.setAttribute("x", String(isRow ? i * (each + 24) : 0));
    chart.root.setAttribute("y", String(isRow ? 0 : i * POPULATION_PLOT));
  });
  const height = POPULATION_PLOT * (isRow ? 1 : charts.length);
  return svgRoot(
    width,
    height,
    view.colours,
    charts.map((chart) => chart.root),
  );
}

/** @param {View} view @param {"x"|"y"} axis @param {string} words */
function axisChooser(view, axis, words) {
  const options = Object.keys(SEED_AXES).map((key) =>
    h("option", { value: key, selected: populationAxes[axis] === key }, SEED_AXES[key].label),
  );
  const chooser = h("select", { id: `population-${axis}`, onchange: choose }, options);
  function choose() {
    populationAxes[axis] = chooser.value;
    view.change({});
  }
  return h("label", { class: "chooser" }, `${words} `, chooser);
}

/** The same by a list, for fingers and keys. @param {View} view */
function seedChooser(view) {
  const { params, rows, best_seed } = view.payload.population;
  if (!params) return null;
  const shown = view.state.seed ?? best_seed;
  const options = rows.map((row) =>
    h(
      "option",
      { value: row.seed, selected: row.seed === shown },
      row.seed === best_seed ? `${row.seed} (best)` : row.seed,
    ),
  );
  const chooser = h(
    "select",
    { id: "population-seed", onchange: () => view.change(openedSeed(view, Number(chooser.value))) },
    options,
  );
  return h("label", { class: "chooser" }, "Switch to seed ", chooser);
}

/** @param {View} view */
function populationNote(view) {
  const { note, best_seed } = view.payload.population;
  const open = view.state.seed === null ? "" : ` The whole page shows seed ${view.state.seed}.`;
  return (
    `The ring marks the best seed, ${best_seed}; ` +
    `filled squares are proved.${open}${note ? ` ${note}` : ""}`
  );
}

/** @param {View} view */
function populationWords(view) {
  const { rows, best_seed } = view.payload.population;
  const losses = rows.map((row) => row.loss).filter(Number.isFinite);
  const whole = rows.filter((row) => row.argmax_accuracy === 1).length;
  const proved = rows.filter((row) => row.verdict === "proved").length;
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  return (
    `${grouped(rows.length)} seeds with losses from ${short(low)} to ${short(high)}; ` +
    `${whole} made no error at their last evaluation, ${proved} are proved; the best is seed ${best_seed}.`
  );
}

/** @param {View} view */
function populationTable(view) {
  /** @type {Array<keyof import("../types.js").SeedRow>} */
  const names = [
    "seed",
    "loss",
    "train_loss",
    "argmax_accuracy",
    "right_probability",
    "whole_accuracy",
    "smallest_margin",
    "verdict",
  ];
  const rows = view.payload.population.rows.map((row) => names.map((name) => row[name]));
  return { columns: names, rows };
}
