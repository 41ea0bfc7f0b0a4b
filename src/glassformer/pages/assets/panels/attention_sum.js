// How one attention cell is computed: products of query and key, the position's shift, and the softmax.

import { h } from "../dom.js";
import { columnOf } from "../judge.js";
import { short } from "../numbers.js";
import { chosenHead, chosenLayer, spotName, tensorRow } from "./places.js";

/** @typedef {import("../view.js").View} View */

/**
 * One cell, term by term: score = sum of query x scale x key, plus shift; weight = power / total.
 * @typedef {{row: number, column: number, query: number[], key: number[], scale: number, terms: number[],
 *   shift: number, score: number, top: number, power: number, total: number, extra: number, weight: number}}
 *   Cell
 */

/** The selected head's matrices and their terms. @param {View} view */
export function attentionOf(view) {
  const index = /** @type {number} */ (chosenLayer(view));
  const head = chosenHead(view, index);
  const layer = view.payload.model.layers[index];
  const at = (/** @type {string} */ part) => view.at(`${layer.prefix}attn.${part}.${head}`);
  return {
    index,
    head,
    layer,
    queries: at("query"),
    keys: at("key"),
    scores: at("scores"),
    weights: at("weights"),
  };
}

/**
 * @param {ReturnType<typeof attentionOf>} attention @param {number} row @param {number} column
 * @returns {Cell}
 */
export function cellOf({ layer, head, queries, keys, scores, weights }, row, column) {
  const [query, key] = [columnOf(queries, row), columnOf(keys, column)];
  const places = scores.shape[1];
  const seen = tensorRow(scores, row).slice(0, row + 1);
  const top = Math.max(...seen, ...(layer.extra ? [0] : []));
  const extra = layer.extra ? layer.extra * Math.exp(-top) : 0;
  const score = scores.data[row * places + column];
  const terms = query.map((value, dim) => value * layer.scale * key[dim]);
  return {
    row,
    column,
    query,
    key,
    scale: layer.scale,
    terms,
    shift: layer.slopes.length
      ? -layer.slopes[head] * (row - column)
      : layer.bias
        ? score - terms.reduce((sum, term) => sum + term, 0)
        : 0,
    score,
    top,
    power: Math.exp(score - top),
    extra,
    total: seen.reduce((sum, one) => sum + Math.exp(one - top), 0) + extra,
    weight: weights.data[row * places + column],
  };
}

/**
 * The sum in words and numbers.
 * @param {View} view @param {ReturnType<typeof attentionOf>} attention @param {Cell} cell
 */
export function cellDetail(view, attention, cell) {
  const [from, to] = [spotName(view, cell.row), spotName(view, cell.column)];
  return [
    h("h3", {}, `${from} attends to ${to}: score ${short(cell.score)}, weight ${short(cell.weight)}`),
    h("div", { class: "columns" }, scorePart(attention, cell), weightPart(attention, cell)),
  ];
}

/** @param {ReturnType<typeof attentionOf>} attention @param {Cell} cell */
function scorePart({ layer }, cell) {
  const { query, key, scale, terms, shift, score, row, column } = cell;
  const rows = terms.map((term, dim) =>
    sumRow(`dim ${dim}`, `${short(query[dim])} × ${short(scale)} × ${short(key[dim])}`, term),
  );
  const slope = layer.slopes.length
    ? [
        sumRow(
          "− slope × distance",
          `− ${short(shift === 0 ? 0 : -shift / (row - column))} × ${row - column}`,
          shift,
        ),
      ]
    : layer.bias
      ? [sumRow(layer.bias, "", shift)]
      : [];
  const turned = layer.rotation
    ? h("p", { class: "small muted" }, `q and k are shown after their rotation (${layer.rotation}).`)
    : null;
  return h(
    "div",
    {},
    sumTable("The score is a sum of query × scale × key", [
      ...rows,
      ...slope,
      sumRow("score", "", score, true),
    ]),
    turned,
  );
}

/** @param {ReturnType<typeof attentionOf>} attention @param {Cell} cell */
function weightPart({ layer }, { score, top, power, total, extra, weight }) {
  const rest = layer.extra ? [sumRow("of it the extra term", `exp(0 − ${short(top)})`, extra)] : [];
  return h(
    "div",
    {},
    sumTable("The weight is the softmax over the row", [
      sumRow("exp(score − largest)", `exp(${short(score)} − ${short(top)})`, power),
      sumRow("the same over all keys", "sum of exponentials", total),
      ...rest,
      sumRow("weight", `${short(power)} / ${short(total)}`, weight, true),
    ]),
  );
}

/** @param {string} title @param {Element[]} rows */
function sumTable(title, rows) {
  return h("div", { class: "table" }, h("table", {}, h("caption", {}, title), h("tbody", {}, rows)));
}

/** @param {string} name @param {string} numbers @param {number} result @param {boolean} [isLast] */
function sumRow(name, numbers, result, isLast = false) {
  const value = isLast ? h("strong", {}, short(result)) : short(result);
  return h(
    "tr",
    {},
    h("td", {}, isLast ? h("strong", {}, name) : name),
    h("td", { class: "number muted", style: "white-space: nowrap" }, numbers),
    h("td", { class: "number", style: "white-space: nowrap" }, "= ", value),
  );
}
