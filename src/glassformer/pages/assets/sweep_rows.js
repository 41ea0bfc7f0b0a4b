// The table of a sweep: one row per configuration, each rate with its interval.

import { h, refill } from "./dom.js";
import { grouped, percent, short } from "./numbers.js";

/**
 * @typedef {{configuration: string, settings: string, about: string, success: string, tried: number, parameters: number,
 *   seeds: number, reached: number, reached_rate: number|null, reached_low: number, reached_high: number,
 *   proved: number, rate: number|null, low: number, high: number, median_margin: number|null,
 *   best_margin: number|null, proved_margin: number|null, seconds: number,
 *   models: Array<{seed: number, margin: number|null, link: string}>}} SweepRow
 */

/** @typedef {{sort: string, down: boolean, theme: "light"|"dark"|null}} SweepState */
/** @typedef {import("./dom.js").Child} Child */

/** `down`: largest first at the first click. */
export const SWEEP_COLUMNS = [
  sweepColumn("configuration", "configuration", "its name in the sweep", false, (row) => row.configuration, nameOf),
  sweepColumn("parameters", "parameters", "learned parameters", false, (row) => row.parameters, (row) => [
    grouped(row.parameters),
  ]),
  sweepColumn("seeds", "seeds", "trained so far", true, (row) => row.seeds, (row) => [grouped(row.seeds)]),
  sweepColumn("reached", "reached", "right on all held-out windows", true, (row) => row.reached_rate, (row) =>
    rateOf(row.reached, row.reached_rate, row.reached_low, row.reached_high),
  ),
  sweepColumn("proved", "proved", "right on every input", true, provedKey, provedOf),
  sweepColumn(
    "margin",
    "median margin",
    "over the seeds that reached: smallest margin on held-out windows",
    true,
    (row) => row.median_margin,
    (row) => [row.median_margin === null ? "–" : short(row.median_margin)],
  ),
  sweepColumn(
    "certain",
    "proved bound on margins",
    "no input has a smaller margin",
    true,
    (row) => row.proved_margin,
    (row) => [row.proved_margin === null ? "–" : short(row.proved_margin)],
  ),
  sweepColumn("models", "models", "proved, the largest margin first", true, (row) => row.proved, modelsOf),
];

/**
 * @param {string} id @param {string} title @param {string} about @param {boolean} down
 * @param {(row: SweepRow) => string|number|null} key @param {(row: SweepRow) => Child[]} cell
 */
function sweepColumn(id, title, about, down, key, cell) {
  return { id, title, about, down, key, cell };
}

/**
 * The table, and the function that fills it in the order of the state.
 * @param {SweepRow[]} rows @param {import("./store.js").Store<SweepState>} store
 */
export function sweepTable(rows, store) {
  const heads = SWEEP_COLUMNS.map((column) => sortingHead(column, store));
  const body = h("tbody");
  const table = h("table", { class: "sweep-table" }, h("thead", {}, h("tr", {}, heads)), body);
  const show = () => {
    const state = store.get();
    heads.forEach((head, i) => {
      const order = state.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", SWEEP_COLUMNS[i].id === state.sort ? order : "none");
    });
    refill(body, sortedRows(rows, state).map(rowOf));
  };
  return { element: h("div", { class: "table" }, table), show };
}

/** @param {typeof SWEEP_COLUMNS[number]} column @param {import("./store.js").Store<SweepState>} store */
function sortingHead(column, store) {
  const sort = () => {
    const { sort, down } = store.get();
    store.set(sort === column.id ? { down: !down } : { sort: column.id, down: column.down });
  };
  const button = h("button", { type: "button", title: column.about, onclick: sort }, column.title);
  return h("th", { scope: "col", class: `sweep-${column.id}` }, button);
}

/**
 * As in the sweep, or by a column; rows without a number come last.
 * @param {SweepRow[]} rows @param {SweepState} state
 */
function sortedRows(rows, state) {
  const column = SWEEP_COLUMNS.find((one) => one.id === state.sort);
  if (!column) return rows;
  return [...rows].sort((a, b) => inOrder(column.key(a), column.key(b), state.down));
}

/** @param {string|number|null} a @param {string|number|null} b @param {boolean} down */
function inOrder(a, b, down) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "string" ? a.localeCompare(String(b), "en", { numeric: true }) : a - Number(b);
  return down ? -order : order;
}

/** @param {SweepRow} row */
function rowOf(row) {
  const cells = SWEEP_COLUMNS.map((column, i) =>
    h(
      i ? "td" : "th",
      { class: `sweep-${column.id}`, "data-title": column.title, scope: i ? null : "row" },
      column.cell(row),
    ),
  );
  return h("tr", {}, cells);
}

/** @param {SweepRow} row */
function nameOf(row) {
  return [
    h("strong", {}, row.configuration),
    row.settings && h("small", {}, row.settings),
  ];
}

/** @param {number} count @param {number|null} rate @param {number} low @param {number} high */
function rateOf(count, rate, low, high) {
  if (rate === null) return ["–"];
  return [`${grouped(count)}, ${percent(rate)}`, h("small", {}, `${percent(low)} to ${percent(high)}`)];
}

/** @param {SweepRow} row */
function provedKey(row) {
  return row.seeds ? row.proved / row.seeds : null;
}

/** For a rule only the best seeds are tried: a count, no rate. @param {SweepRow} row */
function provedOf(row) {
  if (row.success === "proved" || !row.seeds) return rateOf(row.proved, row.rate, row.low, row.high);
  return [`${grouped(row.proved)} of ${grouped(row.tried)} tried`];
}

/** @param {SweepRow} row */
function modelsOf({ models, proved }) {
  if (!models.length) return ["–"];
  const links = models.flatMap(({ seed, link }, i) => [i ? ", " : "", h("a", { href: link }, `seed ${seed}`)]);
  const more = proved - models.length;
  return more > 0 ? [...links, h("small", {}, `and ${grouped(more)} more in models/`)] : links;
}
