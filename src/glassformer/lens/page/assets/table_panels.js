// The tables, row by row: sorted by a click on a column, filtered by what is typed, a few rows at a time.

import { h } from "../../../pages/assets/dom.js";
import { short } from "../../../pages/assets/numbers.js";
import { rove } from "../../../pages/assets/rove.js";
import { dropDown, filterField } from "./choices.js";
import { spectraFrame, weightKey } from "./data.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./data.js").Frame} Frame */
/** @typedef {import("./data.js").FrameColumn} FrameColumn */

const ROWS_AT_ONCE = 30;

/**
 * What a table shows now: which one, sorted by what, and how many rows.
 * @typedef {{which: number, sort: string, down: boolean, shown: number}} TableWay
 * @type {Map<string, TableWay>}
 */
const tableWays = new Map();

/** @type {Map<string, Frame>} */
const openFrames = new Map();

export const headTablePanel = {
  id: "head-table",
  title: "Table of heads",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models.some((one) => one.heads.rows) ? null : "No attention heads of this model were read.",
  about: () =>
    "Every head, kernel and treatment. A click on a column sorts; " +
    "the filter takes words and conditions such as layer=3 or eff_rank<20.",
  draw: (/** @type {View} */ view) => drawTable(view, "heads", tablesOf(view, "heads", "comparison_heads")),
};

export const weightTablePanel = {
  id: "weight-table",
  title: "Table of weights",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models[0].weights.rows
      ? null
      : "The weight matrices were not read (only the heads were analysed).",
  about: () =>
    "Every weight matrix and treatment; embeddings belong to no layer (−1). " +
    "A click on a column sorts; the filter takes words and conditions such as W_Q or " +
    "condition>1000.",
  draw: (/** @type {View} */ view) => drawTable(view, "weights", tablesOf(view, "weights", "comparison")),
};

/**
 * @param {View} view @param {"heads"|"weights"} kind @param {"comparison"|"comparison_heads"} both
 * @returns {Array<{name: string, frame: Frame}>}
 */
function tablesOf(view, kind, both) {
  const packed = view.payload.comparison[both];
  const joint = packed && (openFrames.get(both) ?? spectraFrame(packed));
  if (joint) openFrames.set(both, joint);
  const named = [...view.models, ...(view.change ? [view.change] : [])].map((model) => ({
    name: model.name,
    frame: model[kind],
  }));
  return [...(joint ? [{ name: "both models", frame: joint }] : []), ...named].filter(
    ({ frame }) => frame.rows,
  );
}

/**
 * @param {View} view @param {"heads"|"weights"} kind @param {Array<{name: string, frame: Frame}>} tables
 * @returns {import("../../../pages/assets/types.js").Drawing}
 */
function drawTable(view, kind, tables) {
  const way = tableWays.get(kind) ?? { which: 0, sort: "", down: false, shown: ROWS_AT_ONCE };
  tableWays.set(kind, way);
  const { name, frame } = tables[way.which] ?? tables[0];
  const again = () => view.set({});
  const rows = sortedRows(frame, filteredRows(frame, view.state[kind]), way);
  const head = h(
    "tr",
    {},
    frame.columns.map((one) => columnHead(one, kind, way, again)),
  );
  const body = rows.slice(0, way.shown).map((row) => tableLine(view, kind, frame, row));
  const more =
    rows.length > way.shown
      ? h(
          "button",
          {
            type: "button",
            class: "quiet",
            "data-key": `${kind}-more`,
            onclick: () => {
              way.shown += 5 * ROWS_AT_ONCE;
              again();
            },
          },
          `Show more (${rows.length - way.shown} left)`,
        )
      : null;
  const lines = h("tbody", {}, body);
  if (body.length) rove(lines, body);
  const node = h(
    "div",
    {},
    h(
      "div",
      { class: "table big", tabindex: 0, role: "region", "aria-label": `Table of ${kind}` },
      h("table", {}, h("thead", {}, head), lines),
    ),
    more,
  );
  const controls = [
    filterField(`${kind}-filter`, "Filter rows", view.state[kind], (text) => {
      way.shown = ROWS_AT_ONCE;
      view.set({ [kind]: text });
    }),
    ...(tables.length > 1
      ? [
          dropDown(
            `${kind}-which`,
            "Table",
            tables.map((one, i) => [String(i), one.name]),
            String(way.which),
            (which) => {
              Object.assign(way, { which: Number(which), sort: "", shown: ROWS_AT_ONCE });
              again();
            },
          ),
        ]
      : []),
  ];
  const columns = frame.columns.map((one) => one.name);
  const table = {
    columns,
    rows: rows.map((row) => frame.columns.map((one) => exportCell(frame, one, row))),
  };
  return {
    node,
    alt: `Table of ${kind}: ${rows.length} of ${frame.rows} rows.`,
    table,
    controls,
    note:
      `${rows.length === frame.rows ? frame.rows : `${rows.length} of ${frame.rows}`} ` +
      `rows${tables.length > 1 ? ` of ${name}` : ""}.`,
  };
}

/** @param {Frame} frame @param {FrameColumn} column @param {number} row */
function exportCell(frame, column, row) {
  if (column.isText) return frame.text(column.name, row);
  const value = column.data[row];
  return Number.isNaN(value) ? null : value;
}

/** @param {FrameColumn} one @param {string} kind @param {TableWay} way @param {() => void} again */
function columnHead(one, kind, way, again) {
  const isSorted = way.sort === one.name;
  const sort = () => {
    Object.assign(way, { sort: one.name, down: isSorted ? !way.down : !one.isText, shown: ROWS_AT_ONCE });
    again();
  };
  const mark = isSorted ? (way.down ? " ↓" : " ↑") : "";
  const button = h(
    "button",
    {
      type: "button",
      class: "sort",
      "data-key": `${kind} ${one.name}`,
      title: one.about || null,
      onclick: sort,
    },
    one.label,
    mark,
  );
  return h(
    "th",
    {
      scope: "col",
      class: one.isText ? null : "number",
      "aria-sort": isSorted ? (way.down ? "descending" : "ascending") : null,
    },
    button,
  );
}

/** @param {View} view @param {"heads"|"weights"} kind @param {Frame} frame @param {number} row */
function tableLine(view, kind, frame, row) {
  /** @type {Object<string, any>} */
  const state = view.state;
  /** @type {Partial<import("./state.js").SpectraState>} */
  const patch =
    kind === "heads"
      ? {
          layer: frame.value("layer_idx", row),
          head: frame.value("head_idx", row),
          ...(frame.has("treatment") ? { treatment: frame.text("treatment", row) } : {}),
        }
      : { weight: frame.has("treatment") ? weightKey(frame, row) : pairKey(frame, row) };
  const isChosen = Object.entries(patch).every(([key, value]) => state[key] === value);
  const cells = frame.columns.map((one) =>
    h(
      "td",
      { class: one.isText ? null : "number" },
      one.isText ? frame.text(one.name, row) : Number.isNaN(one.data[row]) ? "–" : short(one.data[row], 5),
    ),
  );
  const pick = () => view.set(patch);
  const key = (/** @type {KeyboardEvent} */ event) =>
    (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick());
  return h(
    "tr",
    {
      class: isChosen ? "pick chosen" : "pick",
      "data-key": `${kind} row ${row}`,
      onclick: pick,
      onkeydown: key,
    },
    cells,
  );
}

/** A row of the comparison is of raw weights. @param {Frame} frame @param {number} row */
function pairKey(frame, row) {
  const expert = frame.value("expert", row);
  const place = `${frame.value("layer_idx", row)}:${frame.text("weight_type", row)}:raw`;
  return Number.isNaN(expert) ? place : `${place}:${expert}`;
}

/** @param {Frame} frame @param {number[]} rows @param {{sort: string, down: boolean}} way */
function sortedRows(frame, rows, { sort, down }) {
  if (!frame.has(sort)) return rows;
  const column = frame.column(sort);
  const sign = down ? -1 : 1;
  if (column.isText)
    return rows.sort((a, b) => sign * frame.text(sort, a).localeCompare(frame.text(sort, b)) || a - b);
  const last = (/** @type {number} */ value) => (Number.isNaN(value) ? Infinity : sign * value);
  return rows.sort((a, b) => {
    const [one, two] = [last(column.data[a]), last(column.data[b])];
    return one === two ? a - b : one - two;
  });
}

/** Words and conditions; all must hold. @param {Frame} frame @param {string} text */
function filteredRows(frame, text) {
  const tests = text
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => rowTest(frame, word));
  return Array.from({ length: frame.rows }, (_, row) => row).filter((row) =>
    tests.every((test) => test(row)),
  );
}

/** @param {Frame} frame @param {string} word @returns {(row: number) => boolean} */
function rowTest(frame, word) {
  const found = /^([\p{L}_][\p{L}\p{N}_-]*)(<=|>=|<|>|=)(.+)$/u.exec(word);
  const column =
    found &&
    frame.columns.find((one) => [one.name, one.label, one.name.replace(/_idx$/, "")].includes(found[1]));
  if (found && column && !column.isText && Number.isFinite(Number(found[3]))) {
    const limit = Number(found[3]);
    const holds = {
      "<": (/** @type {number} */ v) => v < limit,
      ">": (/** @type {number} */ v) => v > limit,
      "<=": (/** @type {number} */ v) => v <= limit,
      ">=": (/** @type {number} */ v) => v >= limit,
      "=": (/** @type {number} */ v) => v === limit,
    }[found[2]];
    return (row) => Boolean(holds?.(column.data[row]));
  }
  if (found && column?.isText && found[2] === "=")
    return (row) => frame.text(column.name, row).toLowerCase() === found[3].toLowerCase();
  const texts = frame.columns.filter((one) => one.isText);
  return (row) => texts.some((one) => frame.text(one.name, row).toLowerCase().includes(word.toLowerCase()));
}
