// Layers by heads as a map of cells: one tab stop, arrow keys walk, the chosen head has a frame.

import { inkOn } from "../../../pages/assets/colour.js";
import { svgRoot } from "../../../pages/assets/chart.js";
import { h, s } from "../../../pages/assets/dom.js";
import { fixed, short } from "../../../pages/assets/numbers.js";
import { rove } from "../../../pages/assets/rove.js";
import { textWidth } from "../../../pages/assets/ticks.js";
import { tip } from "../../../pages/assets/tip.js";
import { heatBar, heatColour } from "./scale.js";

/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */
/**
 * @typedef {{key: string, title: string, grid: import("./data.js").HeadGrid, value: (row: number, layer:
 *   number, head: number) => number, scale: import("./scale.js").HeatScale, words: string, width: number,
 *   colours: Colours, pick: (layer: number, head: number) => void, isBare?: boolean}} HeatMap  isBare: no
 *   numbers in the cells
 */
/** @typedef {ReturnType<typeof heatShape>} HeatShape */
/** @typedef {NonNullable<ReturnType<typeof heatCell>>} HeatCell */
/** @typedef {{root: SVGElement, mark: (layer: number, head: number) => void}} DrawnHeat */

const HEAT_TOP = 26;
const HEAT_LEFT = 34;
const HEAT_FOOT = 76; // layer numbers, their name and the scale

/**
 * Cells of a map: layers across where they fit, down where they do not.
 * @param {number} layers @param {number} heads @param {number} width
 */
function heatShape(layers, heads, width) {
  const room = width - HEAT_LEFT - 2;
  const isTurned = room / layers < 17 && heads < layers;
  const [across, down] = isTurned ? [heads, layers] : [layers, heads];
  const wide = Math.max(5, Math.min(64, room / across));
  const high = isTurned ? Math.min(32, Math.max(18, wide)) : Math.max(6, Math.min(30, wide, 640 / down));
  return { isTurned, across, down, wide, high };
}

/** @param {HeatMap} map @returns {DrawnHeat} */
export function drawHeat(map) {
  const { grid, colours, width } = map;
  const shape = heatShape(grid.layers.length, grid.heads, width);
  const height = HEAT_TOP + shape.down * shape.high + HEAT_FOOT;
  const cells = grid.layers.map((layer, i) =>
    grid.rows[i].map((row, head) => heatCell(map, shape, i, layer, head, row)),
  );
  const frame = s("rect", {
    width: shape.wide,
    height: shape.high,
    fill: "none",
    stroke: colours.accent,
    "stroke-width": 3,
    "pointer-events": "none",
    rx: 2,
    visibility: "hidden",
  });
  const group = s(
    "g",
    {},
    cells.flat().map((one) => one?.node),
  );
  const bar = heatBar(map.scale, HEAT_LEFT, height - 30, width - HEAT_LEFT - 4, colours, map.words);
  const title = s("text", { x: HEAT_LEFT, y: 15, "font-weight": 600, "font-size": 13 }, map.title);
  const root = svgRoot(
    width,
    height,
    colours,
    title,
    heatTicks(map, shape),
    group,
    map.isBare ? null : heatTexts(cells.flat(), shape),
    heatEnds(cells.flat(), shape, colours),
    frame,
    bar,
  );
  root.setAttribute("role", "group");
  const nodes = cells.map((column) => column.map((one) => one?.node ?? null));
  rove(root, shape.isTurned ? nodes : nodes[0].map((_, head) => nodes.map((column) => column[head])));
  return { root, ...heatMark(grid, cells, frame) };
}

/** @param {HeatMap["grid"]} grid @param {Array<Array<HeatCell|null>>} cells @param {Element} frame */
function heatMark(grid, cells, frame) {
  return {
    mark: (/** @type {number} */ layer, /** @type {number} */ head) => {
      const chosen = cells[grid.layers.indexOf(layer)]?.[head];
      frame.setAttribute("visibility", chosen ? "visible" : "hidden");
      if (!chosen) return;
      frame.setAttribute("x", String(chosen.x));
      frame.setAttribute("y", String(chosen.y));
      for (const one of cells.flat()) if (one) one.node.setAttribute("tabindex", one === chosen ? "0" : "-1");
    },
  };
}

/**
 * @param {HeatMap} map @param {HeatShape} shape @param {number} i @param {number} layer @param {number} head
 * @param {number} row
 */
function heatCell(map, shape, i, layer, head, row) {
  if (row < 0) return null;
  const value = map.value(row, layer, head);
  const [column, line] = shape.isTurned ? [head, i] : [i, head];
  const [x, y] = [HEAT_LEFT + column * shape.wide, HEAT_TOP + line * shape.high];
  const fill = heatColour(map.scale, value, map.colours);
  const words = `layer ${layer} head ${head}: ${Number.isNaN(value) ? "not known" : short(value, 5)}`;
  const gap = Math.min(shape.wide, shape.high) > 9 ? 1 : 0;
  const node = s("rect", {
    x,
    y,
    width: shape.wide - gap,
    height: shape.high - gap,
    fill,
    tabindex: -1,
    "aria-label": words,
    role: "button",
    "data-key": `${map.key} ${layer} ${head}`,
    "data-layer": layer,
    "data-head": head,
    cursor: "pointer",
    stroke: Number.isNaN(value) ? map.colours.faint : null,
    onclick: () => map.pick(layer, head),
    onfocus: () => map.pick(layer, head),
  });
  tip(node, () => [
    h("strong", {}, `Layer ${layer}, head ${head}`),
    h("div", {}, `${map.words}: ${Number.isNaN(value) ? "not known" : short(value, 6)}`),
  ]);
  return { node, x, y, value, fill, layer, head };
}

/** Numbers in the cells, where they fit. @param {Array<HeatCell|null>} cells @param {HeatShape} shape */
function heatTexts(cells, shape) {
  const known = cells.filter((one) => one !== null).filter((one) => Number.isFinite(one.value));
  const written = heatWriter(
    known.map((one) => one.value),
    shape.wide - 5,
  );
  if (!written || shape.high < 16) return null;
  return s(
    "g",
    { "font-size": 11, "text-anchor": "middle", "pointer-events": "none" },
    known.map((one) =>
      s(
        "text",
        { x: one.x + shape.wide / 2 - 0.5, y: one.y + shape.high / 2 + 3.5, fill: inkOn(one.fill) },
        written(one.value),
      ),
    ),
  );
}

/**
 * As many decimals as fit, the same in all cells; none where they would show less than the colours.
 * @param {number[]} values @param {number} room
 */
function heatWriter(values, room) {
  const range = Math.max(...values) - Math.min(...values);
  const fits = (/** @type {number} */ decimals) =>
    values.every((value) => textWidth(fixed(value, decimals), 11) < room);
  const decimals = [2, 1, 0].find((count) => fits(count) && (count < 2 || range < 10));
  if (decimals === undefined || (range > 0 && range < 9 * 10 ** -decimals)) return null;
  return (/** @type {number} */ value) => fixed(value, decimals);
}

/**
 * Frames round the smallest and the largest.
 * @param {Array<HeatCell|null>} cells @param {HeatShape} shape @param {Colours} colours
 */
function heatEnds(cells, shape, colours) {
  const known = cells
    .filter((one) => one !== null)
    .filter((one) => Number.isFinite(one.value))
    .sort((a, b) => a.value - b.value);
  if (known.length < 3 || known[0].value === known[known.length - 1].value) return null;
  /** @param {HeatCell} one @param {string} stroke */
  const ring = (one, stroke) =>
    s("rect", {
      x: one.x,
      y: one.y,
      width: shape.wide - 1,
      height: shape.high - 1,
      fill: "none",
      stroke,
      "stroke-width": 1.6,
      "pointer-events": "none",
    });
  return s("g", {}, ring(known[0], colours.bad), ring(known[known.length - 1], colours.good));
}

/** @param {HeatMap} map @param {HeatShape} shape */
function heatTicks({ grid, colours }, shape) {
  const layers = grid.layers.map(String);
  const heads = Array.from({ length: grid.heads }, (_, head) => String(head));
  const [columns, lines] = shape.isTurned ? [heads, layers] : [layers, heads];
  const below = HEAT_TOP + shape.down * shape.high;
  const every = Math.ceil(24 / shape.wide);
  const each = Math.ceil(13 / shape.high);
  const bottom = columns.map((text, i) =>
    i % every
      ? null
      : s("text", { x: HEAT_LEFT + (i + 0.5) * shape.wide, y: below + 14, "text-anchor": "middle" }, text),
  );
  const side = lines.map((text, i) =>
    i % each
      ? null
      : s("text", { x: HEAT_LEFT - 6, y: HEAT_TOP + (i + 0.5) * shape.high + 4, "text-anchor": "end" }, text),
  );
  const names = [
    s("text", { x: HEAT_LEFT, y: below + 30 }, shape.isTurned ? "head" : "layer"),
    s(
      "text",
      {
        x: 0,
        y: 0,
        transform: `translate(10 ${HEAT_TOP + (shape.down * shape.high) / 2}) rotate(-90)`,
        "text-anchor": "middle",
      },
      shape.isTurned ? "layer" : "head",
    ),
  ];
  return s(
    "g",
    { fill: colours.muted, "font-size": 11 },
    bottom,
    side,
    shape.down * shape.high > 36 ? names : names[0],
  );
}
