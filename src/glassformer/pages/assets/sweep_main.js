// A sweep: success rates against size, the table, the proved models, and the command to repeat it.

import { byId, h, refill } from "./dom.js";
import { grouped } from "./numbers.js";
import { createStore, parsed } from "./store.js";
import { sweepChart } from "./sweep_chart.js";
import { SWEEP_COLUMNS, sweepTable } from "./sweep_rows.js";
import { followTheme } from "./theme.js";
import { themeSwitch } from "./theme_switch.js";

/** @typedef {import("./sweep_rows.js").SweepRow} SweepRow */
/** @typedef {import("./sweep_rows.js").SweepState} SweepState */
/**
 * @typedef {{name: string, version: string, colours: import("./theme.js").Themes, seeds: number,
 *   units: {done: number, all: number}, rows: SweepRow[], command: string}} SweepPayload
 */

const FIRST_SWEEP = { sort: "", down: false, theme: null };

/** What a link may ask for. @param {Object<string, string>} wish @returns {Partial<SweepState>} */
function acceptSweep(wish) {
  /** @type {Partial<SweepState>} */
  const patch = {};
  if (SWEEP_COLUMNS.some((column) => column.id === wish.sort)) patch.sort = wish.sort;
  if (typeof parsed(wish.down ?? "") === "boolean") patch.down = parsed(wish.down);
  if (wish.theme === "light" || wish.theme === "dark") patch.theme = wish.theme;
  return patch;
}

/** @param {SweepPayload} payload */
function openSweep(payload) {
  const store = createStore(/** @type {SweepState} */ (FIRST_SWEEP), acceptSweep);
  followTheme(store, payload.colours);
  for (const id of ["bar", "story"]) byId(id).remove();
  refill(
    byId("header"),
    h("div", { class: "sweep-head" }, h("h1", {}, payload.name), themeSwitch(store)),
    h("p", { class: "sentence" }, sweepSentence(payload)),
  );
  const { element, show } = sweepTable(payload.rows, store);
  refill(
    byId("panels"),
    sweepCard("Success rate and size", chartNote(payload.rows), sweepChart(payload.rows)),
    sweepCard("Configurations", tableNote(payload.rows), element),
    sweepCard(
      "Repeat this sweep",
      "On the same kind of device every seed gives the same bits again.",
      h("pre", { class: "sweep-command" }, h("code", {}, payload.command)),
    ),
  );
  const made = `Made by glassformer ${payload.version} from the work units; times are in result.json.`;
  refill(byId("footer"), h("p", {}, made));
  store.subscribe(show);
  show();
}

/** @param {SweepPayload} payload */
function sweepSentence({ rows, seeds, units }) {
  const proved = rows.reduce((sum, row) => sum + row.proved, 0);
  const all = rows.reduce((sum, row) => sum + row.seeds, 0);
  const done = units.done < units.all ? ` So far ${units.done} of ${units.all} work units are done.` : "";
  const kinds = `${rows.length} configuration${rows.length === 1 ? "" : "s"}, ${grouped(seeds)} seeds each`;
  return `${kinds}: ${grouped(proved)} of ${grouped(all)} trained models are proved right on every input.${done}`;
}

/** @param {SweepRow[]} rows */
function chartNote(rows) {
  const filled = rows.some((row) => row.success === "proved") ? "Filled: proved right on every input. " : "";
  const few = rows.some((row) => row.success === "reached")
    ? " For a rule, a proof is tried only for the best seed of each work unit, so there is no proved rate."
    : "";
  return `${filled}Open: right on all held-out windows. Bars are 95% intervals.${few}`;
}

/** @param {SweepRow[]} rows */
function tableNote(rows) {
  const some = rows.some((row) => row.models.length);
  return some ? "Each seed links to its weights file, for glassformer prove, test, draw and page." : "";
}

/** @param {string} title @param {string} about @param {Element} content */
function sweepCard(title, about, content) {
  return h(
    "section",
    { class: "panel wide" },
    h("div", { class: "head" }, h("h2", {}, title)),
    h("p", { class: "about" }, about),
    h("div", { class: "sweep-body" }, content),
  );
}

openSweep(JSON.parse(/** @type {string} */ (byId("payload").textContent)));
