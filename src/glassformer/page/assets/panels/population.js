// All seeds of a run: where each ended, which are proved, and how they got there. A click opens a seed.

import { svgRoot } from "../chart.js";
import { h } from "../dom.js";
import { grouped, short } from "../numbers.js";
import { SEED_AXES, firstSeedAxis, openedSeed, seedCurves, seedScatter } from "./seeds.js";

const POPULATION_PLOT = 320;
const SIDE_BY_SIDE = 720; // pixels from which both pictures stand in a row

/** What the axes show: a matter of looking, not of the link. */
const populationAxes = { x: "", y: "error" };

/** @type {import("../types.js").Panel<any>} */
export const populationPanel = {
  id: "population",
  title: "All seeds",
  wide: true,
  about: () =>
    "Every seed is a training of its own, from other first numbers; " +
    "which one ends where shows how much luck is in a result.",
  missing: (view) =>
    isCrowd(view)
      ? null
      : (view.payload.missing.population ?? "This run has one seed: there is nothing to compare."),
  draw: (view, width) => ({
    node: populationPicture(view, width),
    alt: populationWords(view),
    table: populationTable(view),
    note: populationNote(view),
    controls: [axisChooser(view, "x", "Across"), axisChooser(view, "y", "Up"), seedChooser(view)].filter(
      (one) => one !== null,
    ),
  }),
};

/** @param {any} view */
function isCrowd(view) {
  return (view.payload.population?.rows.length ?? 0) > 1;
}

/** @param {any} view @param {number} width */
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

/** @param {any} view @param {"x"|"y"} axis @param {string} words */
function axisChooser(view, axis, words) {
  const options = Object.keys(SEED_AXES).map((key) =>
    h("option", { value: key, selected: populationAxes[axis] === key }, SEED_AXES[key].label),
  );
  const chooser = /** @type {HTMLSelectElement} */ (
    h("select", { id: `population-${axis}`, onchange: choose }, options)
  );
  function choose() {
    populationAxes[axis] = chooser.value;
    view.change({});
  }
  return h("label", { class: "chooser" }, `${words} `, chooser);
}

/** The same by a list, for fingers and keys. @param {any} view */
function seedChooser(view) {
  const { params, rows, best_seed } = view.payload.population;
  if (!params) return null;
  const shown = view.state.seed ?? best_seed;
  const options = rows.map((/** @type {any} */ row) =>
    h(
      "option",
      { value: row.seed, selected: row.seed === shown },
      row.seed === best_seed ? `${row.seed} (chosen)` : row.seed,
    ),
  );
  const chooser = /** @type {HTMLSelectElement} */ (
    h(
      "select",
      { id: "population-seed", onchange: () => view.change(openedSeed(view, Number(chooser.value))) },
      options,
    )
  );
  return h("label", { class: "chooser" }, "Open seed ", chooser);
}

/** @param {any} view */
function populationNote(view) {
  const { note, best_seed } = view.payload.population;
  const open = view.state.seed === null ? "" : ` Seed ${view.state.seed} is open on the whole page.`;
  return (
    `The ring is the chosen seed, ${best_seed}; ` +
    `a filled square is proved.${open}${note ? ` ${note}` : ""}`
  );
}

/** @param {any} view */
function populationWords(view) {
  const { rows, best_seed } = view.payload.population;
  const losses = rows.map((/** @type {any} */ row) => row.loss).filter(Number.isFinite);
  const whole = rows.filter((/** @type {any} */ row) => row.argmax_accuracy === 1).length;
  const proved = rows.filter((/** @type {any} */ row) => row.verdict === "proved").length;
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  return (
    `${grouped(rows.length)} seeds with losses from ${short(low)} to ${short(high)}; ` +
    `${whole} made no error at their last measure, ${proved} are proved; seed ${best_seed} was chosen.`
  );
}

/** @param {any} view */
function populationTable(view) {
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
  const rows = view.payload.population.rows.map((/** @type {any} */ row) => names.map((name) => row[name]));
  return { columns: names, rows };
}
