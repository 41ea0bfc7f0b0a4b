// Where every array of the parameter sheet stands: groups by part on shelves, long arrays broken into rows.

import { textWidth } from "../ticks.js";

/** @typedef {import("../types.js").Parameter} Parameter */

const SHEET_OPEN = 400; // parameters in all that are shown at first
const SHEET_TEXT = 200; // parameters of an array up to which each has its value written
const SHEET_TALL = 5; // rows from which on an array at least twice as tall as wide is drawn sideways
const SHEET_GAP = 22; // between groups
const SHEET_HEAD = 24; // a group's name
const SHEET_CAPTION = 18; // a line of an array's caption
export const SHEET_EDGE = 18; // room for the indices of rows and columns

/**
 * An array on the sheet. `cells` gives each parameter's cell inside the block.
 * @typedef {{array: Parameter, folded: boolean, text: boolean, sideways: boolean, width: number, height: number, x:
 *   number, y: number, lines: string[], cell: {width: number, height: number}, perRow: number, rows: number,
 *   columns: number}} Block
 * @typedef {{part: string, size: number, blocks: Block[], x: number, y: number, width: number, height:
 *   number}} Group
 */

/** "attn.q.weight" and "attn.q.bias" are both of "attn.q". @param {string} name */
function partOf(name) {
  return name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : name;
}

/** Arrays that are folded at first. @param {Parameter[]} arrays @returns {Set<string>} */
export function foldedArrays(arrays) {
  let sum = 0;
  const small = [...arrays].sort((one, two) => one.size - two.size);
  const folded = small.filter((array) => (sum += array.size) > SHEET_OPEN);
  return new Set(folded.map((array) => array.name));
}

/**
 * @param {Parameter[]} arrays @param {number} width @param {Set<string>} folded
 * @returns {{groups: Group[], height: number}}
 */
export function sheetLayout(arrays, width, folded) {
  const parts = [...new Set(arrays.map((array) => partOf(array.name)))];
  const groups = parts.map((part) => {
    const mine = arrays.filter((array) => partOf(array.name) === part);
    return groupOf(part, mine, width, folded);
  });
  return { groups, height: shelve(groups, width) };
}

/**
 * @param {string} part @param {Parameter[]} arrays @param {number} width @param {Set<string>} folded
 * @returns {Group}
 */
function groupOf(part, arrays, width, folded) {
  const blocks = arrays.map((array) => blockOf(array, width, folded.has(array.name)));
  const size = arrays.reduce((sum, array) => sum + array.size, 0);
  const height = SHEET_HEAD + shelve(blocks, width, SHEET_HEAD);
  const right = Math.max(
    ...blocks.map((block) => block.x + block.width),
    textWidth(`${part}  ${size} parameters`, 13) + 14,
  );
  return { part, size, blocks, x: 0, y: 0, width: Math.min(width, right), height };
}

/**
 * Side by side as far as they fit, then on the next shelf.
 * @param {Array<{x: number, y: number, width: number, height: number}>} boxes @param {number} width
 */
function shelve(boxes, width, top = 0) {
  let [x, y, tallest] = [0, top, 0];
  for (const box of boxes) {
    if (x > 0 && x + box.width > width) [x, y, tallest] = [0, y + tallest + SHEET_GAP * 0.7, 0];
    [box.x, box.y] = [x, y];
    x += box.width + SHEET_GAP;
    tallest = Math.max(tallest, box.height);
  }
  return y + tallest - top;
}

/** @param {Parameter} array @param {number} width @param {boolean} folded @returns {Block} */
function blockOf(array, width, folded) {
  const lines = captionOf(array, folded);
  const words = Math.max(...lines.map((line) => textWidth(line, 11.5))) + 4;
  const base = { array, folded, lines, x: 0, y: 0, text: array.size <= SHEET_TEXT };
  const caption = lines.length * SHEET_CAPTION;
  if (folded)
    return {
      ...base,
      sideways: false,
      width: Math.min(width, words + 20),
      height: caption + 12,
      cell: { width: 0, height: 0 },
      perRow: 0,
      rows: 0,
      columns: 0,
    };
  const { rows, columns, sideways } = gridOf(array);
  const cell = cellSize(base.text, columns, width);
  const edge = array.size > 1 ? SHEET_EDGE : 0;
  const perRow = Math.max(1, Math.min(columns, Math.floor((width - edge) / cell.width)));
  const chunks = Math.ceil(columns / perRow);
  const high = caption + chunks * (rows * cell.height + edge) + 4;
  return {
    ...base,
    sideways,
    width: Math.min(width, Math.max(words, edge + perRow * cell.width)),
    height: high,
    cell,
    perRow,
    rows,
    columns,
  };
}

/**
 * How an array is laid out: a list as a row, a tall matrix sideways, more axes as rows of the last.
 * @param {{shape: number[], size: number}} array
 */
function gridOf({ shape, size }) {
  if (shape.length < 2) return { rows: 1, columns: size, sideways: false };
  const columns = shape[shape.length - 1];
  const rows = size / columns;
  return rows >= SHEET_TALL && rows >= 2 * columns && columns <= 4 && shape.length === 2
    ? { rows: columns, columns: rows, sideways: true }
    : { rows, columns, sideways: false };
}

/**
 * With a value written, large enough for a finger on a phone.
 * @param {boolean} text @param {number} columns @param {number} width
 */
function cellSize(text, columns, width) {
  if (text) return width < 600 ? { width: 50, height: 32 } : { width: 50, height: 24 };
  const fit = Math.min(16, Math.max(7, Math.floor((width - SHEET_EDGE) / columns)));
  return { width: fit, height: fit };
}

/** @param {Parameter} array @param {boolean} folded */
function captionOf({ name, shape, size, learned, tied, dead }, folded) {
  const short = name.slice(partOf(name).length + 1) || name;
  const sizes = shape.join(" × ");
  const { sideways } = gridOf({ shape, size });
  const marks = [!learned && "fixed", dead && "dead", sideways && !folded && "drawn sideways"].filter(
    Boolean,
  );
  const head =
    `${folded ? "▸ " : ""}${short}${sizes && "  "}${sizes}${shape.length > 1 ? ` = ${size}` : ""}` +
    `${marks.length ? `  (${marks.join(", ")})` : ""}`;
  return [head, ...tied.map((other) => `tied: ${other}`)];
}

/** The corner of a parameter's cell inside its block. @param {Block} block @param {number} flat */
export function cellCorner(block, flat) {
  const { cell, columns, perRow, rows, sideways, lines, array } = block;
  const [row, column] = sideways
    ? [flat % rows, Math.floor(flat / rows)]
    : [Math.floor(flat / columns), flat % columns];
  const chunk = Math.floor(column / perRow);
  const edge = array.size > 1 ? SHEET_EDGE : 0;
  const top = lines.length * SHEET_CAPTION + chunk * (rows * cell.height + edge) + edge;
  return {
    x: edge + (column % perRow) * cell.width,
    y: top + row * cell.height,
    row,
    column,
    first: column % perRow === 0,
  };
}
