// The tables and spectra of a payload, rows by key, columns by name, spectra when needed.

import { unpack } from "../../../pages/assets/unpack.js";

/** @typedef {import("./types.js").PackedColumn} PackedColumn */
/** @typedef {import("./types.js").PackedModel} PackedModel */
/** @typedef {import("./types.js").PackedSpectra} PackedSpectra */
/** @typedef {import("./types.js").Packed} Packed */
/**
 * @typedef {{name: string, label: string, about: string, scale: "plain"|"signed"|"log", isText: boolean,
 *   texts: string[], data: Float64Array}} FrameColumn
 */
/**
 * @typedef {{rows: number, columns: FrameColumn[], has: (name: string) => boolean,
 *   column: (name: string) => FrameColumn, value: (name: string, row: number) => number,
 *   text: (name: string, row: number) => string}} Frame
 */
/**
 * Rows of the table by layer and head; -1 where there is none.
 * @typedef {{layers: number[], heads: number, rows: number[][]}} HeadGrid
 */

/**
 * A table: numbers as float64 (NaN: an empty cell), texts by their codes.
 * @param {PackedColumn[]} packed @returns {Frame}
 */
export function spectraFrame(packed) {
  /** @type {FrameColumn[]} */
  const columns = packed.map((one) => ({
    name: one.name,
    label: one.label,
    about: one.about,
    scale: one.scale,
    isText: Boolean(one.texts),
    texts: one.texts ?? [],
    data: unpack(/** @type {Packed} */ (one.codes ?? one.numbers)).data,
  }));
  const byName = new Map(columns.map((one) => [one.name, one]));
  /** @param {string} name */
  const column = (name) => /** @type {FrameColumn} */ (byName.get(name));
  return {
    rows: columns[0]?.data.length ?? 0,
    columns,
    column,
    has: (name) => byName.has(name),
    value: (name, row) => (row < 0 || !byName.has(name) ? NaN : column(name).data[row]),
    text: (name, row) =>
      row < 0 || !byName.has(name) ? "" : (column(name).texts[column(name).data[row]] ?? ""),
  };
}

/**
 * One model of the payload: its own fields, its tables, and its spectra by row.
 * @typedef {Omit<PackedModel, "heads"> & {headCount: number|null, heads: Frame, weights: Frame,
 *   headRows: Map<string, number>, weightRows: Map<string, number>, grids: Map<string, HeadGrid>,
 *   headValues: SpectrumOf, headEigenvalues: SpectrumOf, weightValues: SpectrumOf}} SpectraModel
 */
/** @typedef {(row: number) => Float64Array} SpectrumOf */

/** @param {PackedModel} packed @returns {SpectraModel} */
export function spectraModel(packed) {
  const heads = spectraFrame(packed.headTable);
  const weights = spectraFrame(packed.weightTable);
  return {
    ...packed,
    headCount: packed.heads,
    heads,
    weights,
    headRows: rowsByKey(heads, (row) =>
      headKey(
        heads.value("layer_idx", row),
        heads.value("head_idx", row),
        heads.text("kernel", row),
        heads.text("treatment", row),
      ),
    ),
    weightRows: rowsByKey(weights, (row) => weightKey(weights, row)),
    headValues: spectraOf(packed.spectra.heads.values, 1),
    headEigenvalues: spectraOf(packed.spectra.heads.eigenvalues, 2),
    weightValues: spectraOf(packed.spectra.weights, 1),
    grids: new Map(),
  };
}

/** @param {number} layer @param {number} head @param {string} kernel @param {string} treatment */
export function headKey(layer, head, kernel, treatment) {
  return `${layer} ${head} ${kernel} ${treatment}`;
}

/** "3:W_Q:raw", and with the expert "3:W_up:raw:7". @param {Frame} weights @param {number} row */
export function weightKey(weights, row) {
  const expert = weights.value("expert", row);
  const [layer, type] = [weights.value("layer_idx", row), weights.text("weight_type", row)];
  const place = `${layer}:${type}:${weights.text("treatment", row)}`;
  return Number.isNaN(expert) ? place : `${place}:${expert}`;
}

/** @param {Frame} frame @param {(row: number) => string} key @returns {Map<string, number>} */
function rowsByKey(frame, key) {
  const rows = new Map();
  for (let row = 0; row < frame.rows; row++) if (!rows.has(key(row))) rows.set(key(row), row);
  return rows;
}

/**
 * Spectra one after the other, unpacked when the first is asked for.
 * @param {PackedSpectra} packed @param {number} width numbers a component
 */
function spectraOf(packed, width) {
  /** @type {{starts: Float64Array, numbers: Float64Array}|null} */
  let open = null;
  return (/** @type {number} */ row) => {
    open ??= { starts: unpack(packed.starts).data, numbers: unpack(packed.numbers).data };
    if (row < 0) return new Float64Array(0);
    return open.numbers.subarray(open.starts[row] * width, open.starts[row + 1] * width);
  };
}

/**
 * Which rows of the heads stand where.
 * @param {SpectraModel} model @param {string} kernel @param {string} treatment @returns {HeadGrid}
 */
export function headGrid(model, kernel, treatment) {
  const key = `${kernel} ${treatment}`;
  const known = model.grids.get(key);
  if (known) return known;
  const { heads } = model;
  const numbers = (/** @type {string} */ name) => (heads.has(name) ? [...heads.column(name).data] : []);
  const layers = [...new Set(numbers("layer_idx"))].sort((a, b) => a - b);
  const count = numbers("head_idx").reduce((most, head) => Math.max(most, head + 1), 0);
  const rows = layers.map((layer) =>
    Array.from(
      { length: count },
      (_, head) => model.headRows.get(headKey(layer, head, kernel, treatment)) ?? -1,
    ),
  );
  model.grids.set(key, { layers, heads: count, rows });
  return { layers, heads: count, rows };
}

/**
 * Components at which a weight's spectrum is known, from 1 on.
 * @param {SpectraModel} model @param {number} row @param {number} count
 */
export function componentsOf(model, row, count) {
  const length = model.spectra.lengths[row];
  if (count === length) return Float64Array.from({ length: count }, (_, i) => i + 1);
  return unpack(model.spectra.places[String(length)]).data.map((place) => place + 1);
}

/**
 * Different texts of a column, in the order of the table.
 * @param {Frame} frame @param {string} name @returns {string[]}
 */
export function textsOf(frame, name) {
  return frame.has(name) ? frame.column(name).texts : [];
}

/** Measures of a table that a map or a line can show. @param {Frame} frame @param {string[]} not */
export function numbersOf(frame, not) {
  return frame.columns.filter((one) => !one.isText && !not.includes(one.name));
}
