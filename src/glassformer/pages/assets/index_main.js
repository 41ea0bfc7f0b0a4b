// The index over a folder of runs: a table to sort and filter; an unfinished or damaged run says so in its row.

import { byId, h, refill } from "./dom.js";
import { INDEX_COLUMNS, indexRow } from "./index_rows.js";
import { createStore, parsed } from "./store.js";
import { followTheme } from "./theme.js";
import { themeSwitch } from "./theme_switch.js";

/** @typedef {import("./index_rows.js").Run} Run */
/** @typedef {{sort: string, down: boolean, filter: string, theme: "light"|"dark"|null}} IndexState */
/** @typedef {import("./store.js").Store<IndexState>} IndexStore */

const FIRST_INDEX = { sort: "name", down: false, filter: "", theme: null };

/** What a link may ask for. @param {Object<string, string>} wish @returns {Partial<IndexState>} */
function acceptIndex(wish) {
  /** @type {Partial<IndexState>} */
  const patch = {};
  if (INDEX_COLUMNS.some((column) => column.id === wish.sort)) patch.sort = wish.sort;
  if (typeof parsed(wish.down ?? "") === "boolean") patch.down = parsed(wish.down);
  if (wish.filter) patch.filter = wish.filter;
  if (wish.theme === "light" || wish.theme === "dark") patch.theme = wish.theme;
  return patch;
}

/** @param {{name: string, version: string, colours: import("./theme.js").Themes, runs: Run[]}} payload */
function openIndex(payload) {
  const store = createStore(/** @type {IndexState} */ (FIRST_INDEX), acceptIndex);
  followTheme(store, payload.colours);
  for (const id of ["bar", "story"]) byId(id).remove();
  const count = h("p", { class: "index-count", role: "status" });
  const field = wordsField(store);
  refill(
    byId("header"),
    h("div", { class: "index-head" }, h("h1", {}, payload.name), count, field, themeSwitch(store)),
  );
  const show = mountTable(byId("panels"), payload.runs, store);
  const made = `Made by glassformer ${payload.version} from run.toml and result.json of each run.`;
  refill(byId("footer"), h("p", {}, made));
  const follow = () => {
    const [shown, all] = [show(), payload.runs.length];
    refill(count, shown === all ? `${all} runs` : `${shown} of ${all} runs`);
    if (field.value !== store.get().filter) field.value = store.get().filter;
  };
  store.subscribe(follow);
  follow();
}

/** The field of the filter. @param {IndexStore} store */
function wordsField(store) {
  const field = h("input", {
    type: "search",
    placeholder: "name, task or verdict",
    "aria-label": "show only runs with these words",
    oninput: () => store.set({ filter: field.value }),
  });
  return field;
}

/**
 * The table, and the function that fills it and returns how many runs it shows.
 * @param {HTMLElement} container @param {Run[]} runs @param {IndexStore} store
 */
function mountTable(container, runs, store) {
  const heads = INDEX_COLUMNS.map((column) => headCell(column, store));
  const body = h("tbody");
  const table = h("table", { class: "index-table" }, h("thead", {}, h("tr", {}, heads)), body);
  refill(container, h("div", { class: "index-card" }, table));
  return () => {
    const state = store.get();
    const chosen = chosenRuns(runs, state);
    heads.forEach((head, i) => head.setAttribute("aria-sort", orderOf(INDEX_COLUMNS[i].id, state)));
    refill(body, chosen.map(indexRow));
    return chosen.length;
  };
}

/**
 * A heading that sorts by its column.
 * @param {typeof INDEX_COLUMNS[number]} column @param {IndexStore} store
 */
function headCell(column, store) {
  const sort = () => {
    const { sort, down } = store.get();
    store.set(sort === column.id ? { down: !down } : { sort: column.id, down: column.down });
  };
  return h(
    "th",
    { scope: "col", class: `index-${column.id}` },
    h("button", { type: "button", title: column.about, onclick: sort }, column.title),
  );
}

/** @param {string} id @param {IndexState} state */
function orderOf(id, state) {
  if (id !== state.sort) return "none";
  return state.down ? "descending" : "ascending";
}

/**
 * The runs that match every word of the filter, sorted; runs without a value come last.
 * @param {Run[]} runs @param {IndexState} state
 */
function chosenRuns(runs, state) {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const column = INDEX_COLUMNS.find((one) => one.id === state.sort) ?? INDEX_COLUMNS[0];
  return runs
    .filter((run) => words.every((word) => searched(run).includes(word)))
    .map((run) => ({ run, key: column.key(run) }))
    .sort((a, b) => compared(a.key, b.key, state.down) || compared(a.run.name, b.run.name, false))
    .map(({ run }) => run);
}

/** @param {Run} run */
function searched(run) {
  const verdict = (run.verdict ?? "").replace("_", " ");
  return [run.name, run.task, run.about, verdict, run.problem].join(" ").toLowerCase();
}

/** @param {string|number|null} a @param {string|number|null} b @param {boolean} down */
function compared(a, b, down) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "string" ? a.localeCompare(String(b), "en", { numeric: true }) : a - Number(b);
  return down ? -order : order;
}

openIndex(JSON.parse(/** @type {string} */ (byId("payload").textContent)));
