// Attention: scores and weights of one head as matrices, and below them how the selected cell is computed.

import { h, refill, s } from "../dom.js";
import { matrix } from "../matrix.js";
import { fixed, percent, short } from "../numbers.js";
import { attentionOf, cellDetail, cellOf } from "./attention_sum.js";
import { headChoosers } from "./geometry.js";
import { chosenLayer, placeName, spotName, tensorRow, tokenPaint } from "./places.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {ReturnType<typeof attentionOf>} Attention */

const BESIDE = 700; // pixels from which two small matrices stand side by side
const FEW = 16; // columns up to which a matrix is small
const PHONE_CELL = 30; // pixels: a cell that a finger can hit

/** @type {import("../types.js").Panel<View>} */
export const attentionPanel = {
  id: "attention",
  title: "Attention",
  wide: true,
  about: (view) =>
    `Scores and weights of one head: a row is what ${view.family.rowWords} attends to. ` +
    "Point at a cell to see how it is computed.",
  missing: (view) => (chosenLayer(view) === null ? "This model has no attention." : null),
  draw(view, width) {
    const attention = attentionOf(view);
    const rows = shownRows(view);
    const detail = h("div", { class: "detail", "aria-live": "polite" });
    const chosen = chosenCell(view, attention);
    const show = (/** @type {number} */ row, /** @type {number} */ column) =>
      refill(detail, cellDetail(view, attention, cellOf(attention, row, column)));
    show(view.place, chosen);
    return {
      node: h("div", {}, matrices(view, attention, rows, width, chosen, show), detail),
      alt: attentionWords(view, attention),
      get table() {
        return attentionTable(view, attention, rows);
      },
      note: attention.layer.extra
        ? "softmax1: the denominator has one more term, exp(0), so a head can attend to nothing, " +
          "and the weights need not add up to 1."
        : "",
      controls: [...headChoosers(view), ...rowChooser(view)],
    };
  },
};

/**
 * The key of the selected cell, or the one with the largest weight.
 * @param {View} view @param {Attention} attention
 */
function chosenCell(view, { weights }) {
  if (view.state.key !== null && view.state.key <= view.place) return view.state.key;
  const row = tensorRow(weights, view.place).slice(0, view.place + 1);
  return Math.max(0, row.indexOf(Math.max(...row)));
}

/** The rows of the family, or all if asked for; always with the cursor. @param {View} view */
function shownRows(view) {
  if (view.state.everyRow) return view.tokens.map((_, place) => place);
  return [...new Set([...view.family.toldPlaces(view), view.place])].sort((a, b) => a - b);
}

/** @param {View} view */
function rowChooser(view) {
  if (!view.family.rowChoices) return [];
  const [few, all] = view.family.rowChoices;
  const every = view.state.everyRow;
  const button = (/** @type {boolean} */ value, /** @type {string} */ text) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(every === value),
        "data-key": `rows-${value}`,
        onclick: () => view.change({ everyRow: value }),
      },
      text,
    );
  return [
    h(
      "div",
      { class: "group", role: "group", "aria-label": "rows" },
      button(false, few),
      button(true, all),
    ),
  ];
}

/**
 * @param {View} view @param {Attention} attention @param {number[]} rows @param {number} width
 * @param {number} chosen @param {(row: number, column: number) => void} show
 */
function matrices(view, attention, rows, width, chosen, show) {
  const columns = view.tokens.length;
  const isSmall = columns <= FEW;
  const each = isSmall && width >= BESIDE ? (width - 32) / 2 : width;
  const both = /** @type {const} */ (["scores", "weights"]).map((kind) =>
    attentionMatrix(view, attention, kind, rows, each, chosen, show),
  );
  return h("div", { class: isSmall && width >= BESIDE ? "columns" : "stack" }, both);
}

/**
 * @param {View} view @param {Attention} attention @param {"scores"|"weights"} kind @param {number[]} rows
 * @param {number} width @param {number} chosen @param {(row: number, column: number) => void} show
 */
function attentionMatrix(view, attention, kind, rows, width, chosen, show) {
  const columns = view.tokens.map((_, place) => place);
  const names = columns.map((place) => spotName(view, place));
  const values = rows.map((row) => tensorRow(attention[kind], row));
  const word = kind === "scores" ? "score" : "weight";
  const isChosen = (/** @type {number} */ i, /** @type {number} */ j) =>
    rows[i] === view.place && j === chosen;
  const { root, cells } = matrix({
    width,
    rows: rows.map((row) => names[row]),
    columns: names,
    values,
    colours: view.colours,
    kind: kind === "scores" ? "signed" : "share",
    limit: (i) => Math.max(...values[i].slice(0, rows[i] + 1).map(Math.abs)), // a softmax is of its row alone
    mask: (i, j) => j > rows[i],
    rowColours: rows.map((row) => tokenPaint(view, view.tokens[row]).colour),
    columnColours: columns.map((place) => tokenPaint(view, view.tokens[place]).colour),
    rowTitle: "query",
    columnTitle: `${kind}: keys`,
    cellSize: width / columns.length < PHONE_CELL ? PHONE_CELL : undefined,
    text: columns.length <= FEW ? undefined : kind === "weights" ? largeShare : roundScore,
    cell: (i, j) => ({
      stroke: isChosen(i, j) ? view.colours.accent : null,
      "stroke-width": 2.5,
      cursor: "pointer",
    }),
    title: (i, j) => `${word} of ${names[rows[i]]} for ${names[j]}: ${short(values[i][j])}`,
  });
  cells.forEach((line, i) =>
    line.forEach((cell, j) => cell?.setAttribute("data-key", `${kind} ${rows[i]} ${j}`)),
  );
  markRow(root, cells, rows.indexOf(view.place), view);
  listenToCells(root, view, show, chosen);
  return h("div", { class: "scrolls", "data-matrix": kind }, root);
}

/**
 * Of many weights only those are written that do not round to 0.
 * @param {number} weight
 */
function largeShare(weight) {
  return weight < 0.005 ? "" : weight === 1 ? "1" : fixed(weight, 2);
}

/** @param {number} score */
function roundScore(score) {
  return Math.abs(score) < 99.5 ? fixed(score, Math.abs(score) < 9.95 ? 1 : 0) : short(score, 2);
}

/**
 * A frame round the cursor's row.
 * @param {SVGElement} root @param {Array<Array<SVGElement|null>>} cells @param {number} row
 * @param {View} view
 */
function markRow(root, cells, row, view) {
  const rects = cells[row]?.flatMap((cell) => cell?.querySelector("rect") ?? []) ?? [];
  if (!rects.length) return;
  const [first, last] = [rects[0], rects[rects.length - 1]];
  const number = (/** @type {Element} */ rect, /** @type {string} */ name) => Number(rect.getAttribute(name));
  const [x, y] = [number(first, "x") - 2, number(first, "y") - 2];
  const frame = {
    x,
    y,
    width: number(last, "x") + number(last, "width") + 2 - x,
    height: number(first, "height") + 4,
    rx: 5,
  };
  root.append(
    s("rect", {
      ...frame,
      fill: "none",
      stroke: view.colours.accent,
      "stroke-width": 1.2,
      "pointer-events": "none",
      "data-row": "cursor",
    }),
  );
}

/**
 * Pointing at a cell or moving to it shows how it is computed; a click or Enter keeps it.
 * @param {SVGElement} root @param {View} view @param {(row: number, column: number) => void} show
 * @param {number} chosen
 */
function listenToCells(root, view, show, chosen) {
  const found = (/** @type {Event} */ event) => {
    const key = /** @type {Element} */ (event.target)
      .closest("[data-key]")
      ?.getAttribute("data-key")
      ?.split(" ");
    return key ? [Number(key[1]), Number(key[2])] : null;
  };
  const look = (/** @type {Event} */ event) => {
    const cell = found(event);
    if (cell) show(cell[0], cell[1]);
  };
  const keep = (/** @type {Event} */ event) => {
    const cell = found(event);
    if (cell) view.change({ place: cell[0], key: cell[1] });
  };
  root.addEventListener("pointerover", look);
  root.addEventListener("focusin", look);
  root.addEventListener("click", keep);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter") keep(event);
  });
  root.addEventListener("pointerleave", () => show(view.place, chosen));
}

/** @param {View} view @param {Attention} attention */
function attentionWords(view, { weights, head, index }) {
  const row = tensorRow(weights, view.place).slice(0, view.place + 1);
  const order = row
    .map((_, place) => place)
    .sort((a, b) => row[b] - row[a])
    .slice(0, 3);
  const parts = order.map(
    (place) => `${Number.isFinite(row[place]) ? percent(row[place]) : "NaN"} to ${spotName(view, place)}`,
  );
  return `Attention of layer ${index}, head ${head}: ${spotName(view, view.place)} gives ${parts.join(", ")}.`;
}

/**
 * Every score and weight of the rows shown, with their terms.
 * @param {View} view @param {Attention} attention @param {number[]} rows
 */
function attentionTable(view, attention, rows) {
  const dims = attention.queries.shape[0];
  const every = Array.from({ length: dims }, (_, dim) => dim);
  const columns = [
    "layer",
    "head",
    "query place",
    "query token",
    "key place",
    "key token",
    ...every.map((dim) => `query[${dim}]`),
    ...every.map((dim) => `key[${dim}]`),
    "scale",
    "shift",
    "score",
    "largest of the row",
    "sum of exponentials",
    "weight",
  ];
  const cells = rows.flatMap((row) =>
    Array.from({ length: row + 1 }, (_, column) => cellOf(attention, row, column)),
  );
  const place = (/** @type {number} */ at) => [placeName(view, at), view.labels[at]];
  return {
    columns,
    rows: cells.map((cell) => [
      attention.index,
      attention.head,
      ...place(cell.row),
      ...place(cell.column),
      ...cell.query,
      ...cell.key,
      cell.scale,
      cell.shift,
      cell.score,
      cell.top,
      cell.total,
      cell.weight,
    ]),
  };
}
