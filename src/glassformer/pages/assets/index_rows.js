// One row of the index: what is known of a run, each number with its meaning.

import { prose } from "./prose.js";
import { h } from "./dom.js";
import { grouped, percent, short } from "./numbers.js";

/**
 * @typedef {{name: string, about: string, task: string|null, problem: string|null, page: string|null,
 *   finished: number|null, parameters: number|null, seeds: number|null, accuracy: {value: number|null,
 *   low: number|null, high: number|null, positions: number|null}, measured: string, verdict: string|null,
 *   margin: number|null}} Run
 */

const VERDICT_WORDS = {
  proved: ["proved", "right on every input"],
  refuted: ["refuted", "wrong on an input that is known"],
  undecided: ["undecided", "the proof ran out of time"],
  not_applicable: ["not provable", "the proof method does not apply"],
};
const VERDICT_ORDER = ["refuted", "not_applicable", "undecided", "proved"];

/** `down`: largest first at the first click. */
export const INDEX_COLUMNS = [
  column("name", "run", "the run's folder; opens its page", (run) => run.name, nameCell, false),
  column(
    "task",
    "task",
    "the task it was trained on",
    (run) => run.task,
    (run) => [run.task ?? "–"],
    false,
  ),
  column(
    "parameters",
    "parameters",
    "parameters of the model",
    (run) => run.parameters,
    (run) => [count(run.parameters)],
    false,
  ),
  column(
    "seeds",
    "seeds",
    "models trained, one per seed",
    (run) => run.seeds,
    (run) => [count(run.seeds)],
    true,
  ),
  column(
    "accuracy",
    "accuracy",
    "on new data, with its 95% interval",
    (run) => run.accuracy.value,
    accuracyCell,
    true,
  ),
  column("verdict", "verdict", "of the proof over all inputs", verdictKey, verdictCell, true),
  column(
    "margin",
    "smallest margin",
    "right logit minus best wrong one, over all inputs",
    (run) => run.margin,
    marginCell,
    true,
  ),
  column(
    "finished",
    "finished",
    "when the result was written",
    (run) => run.finished,
    (run) => [dayOf(run.finished)],
    true,
  ),
];

/**
 * @param {string} id @param {string} title @param {string} about @param {(run: Run) => string|number|null} key
 * @param {(run: Run) => import("./dom.js").Child[]} cell @param {boolean} down
 */
function column(id, title, about, key, cell, down) {
  return { id, title, about, key, cell, down };
}

/** @param {Run} run */
export function indexRow(run) {
  const known = run.problem && run.accuracy.value === null ? INDEX_COLUMNS.slice(0, 2) : INDEX_COLUMNS;
  const cells = known.map((one, i) =>
    h(
      i ? "td" : "th",
      { class: `index-${one.id}`, "data-title": one.title, scope: i ? null : "row" },
      h("div", {}, one.cell(run)),
    ),
  );
  const rest = INDEX_COLUMNS.length - known.length;
  if (rest) cells.push(h("td", { class: "index-problem", colspan: rest }, run.problem));
  return h("tr", {}, cells);
}

/** @param {Run} run */
function nameCell(run) {
  const name = run.page ? h("a", { href: run.page }, run.name) : h("span", {}, run.name);
  const measured = run.accuracy.value !== null;
  return [
    name,
    measured && run.problem && h("small", { class: "index-problem" }, run.problem),
    run.about && h("small", {}, prose(run.about)),
  ];
}

/** @param {Run} run */
function accuracyCell({ accuracy: { value, low, high, positions }, measured }) {
  if (value === null) return ["–"];
  const interval = low !== null && high !== null && h("small", {}, `${percent(low)} to ${percent(high)}`);
  return [
    percent(value),
    interval,
    positions !== null && h("small", {}, `of ${grouped(positions)} ${measured}`),
  ];
}

/** @param {Run} run */
function verdictKey(run) {
  return run.verdict === null ? null : VERDICT_ORDER.indexOf(run.verdict);
}

/** @param {Run} run */
function verdictCell(run) {
  if (run.verdict === null) return ["–"];
  const [word, meaning] = VERDICT_WORDS[/** @type {keyof typeof VERDICT_WORDS} */ (run.verdict)];
  return [h("span", { class: `index-badge index-${run.verdict}`, title: meaning }, word)];
}

/** @param {Run} run */
function marginCell(run) {
  return [run.margin === null ? "–" : short(run.margin)];
}

/** @param {number|null} value */
function count(value) {
  return value === null ? "–" : grouped(value);
}

/** 2026-11-16, where the reader is. @param {number|null} seconds */
function dayOf(seconds) {
  if (seconds === null) return "–";
  const day = new Date(seconds * 1000);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}
