// Attention as arcs from the query to its keys, as thick as the weights.

import { mix } from "../colour.js";
import { s } from "../dom.js";
import { label } from "../marks.js";
import { percent, short } from "../numbers.js";
import { textWidth } from "../ticks.js";

/** @typedef {import("../types.js").AdderView} View */

const ARC_DRAWN = 0.001; // weights below are no line at all
const ARC_NAMED = 0.01; // weights above have their number written
const ARC_ROOM = 74; // height of the arcs
const ARC_HEAD = 20; // the strip's name
const ARC_CELL = 24; // height of a token
const ARC_LEVELS = 3; // rows of weights, where they would collide

/** @typedef {{layer: number, head: number, name: string, key: string, extra: number}} ArcHead */

/** Every head of every attention layer. @param {View} view @returns {ArcHead[]} */
export function arcHeads(view) {
  const { layers } = view.payload.model;
  return layers.flatMap((layer, index) =>
    Array.from({ length: layer.attention ? layer.heads : 0 }, (_, head) => {
      const words = [layers.length > 1 && `layer ${index}`, layer.heads > 1 && `head ${head}`]
        .filter(Boolean)
        .join(", ");
      return {
        layer: index,
        head,
        name: words || "attention",
        key: `${layer.prefix}attn.weights.${head}`,
        extra: layer.extra,
      };
    }),
  );
}

/**
 * Weights of the query, one per position up to it.
 * @param {View} view @param {ArcHead} head @returns {Float64Array}
 */
export function arcWeights(view, head) {
  const { shape, data } = view.at(head.key);
  return data.slice(view.place * shape[1], view.place * shape[1] + view.place + 1);
}

/**
 * One strip: its name, the arcs, the tokens in the model's own order, the weights under them.
 * @param {View} view @param {ArcHead} head @param {number} width @param {(place: number) => void} choose
 */
export function arcStrip(view, head, width, choose) {
  const weights = arcWeights(view, head);
  const places = view.tokens.length + 1;
  const cell = Math.min(36, (width - 2) / places);
  const X = (/** @type {number} */ place) => 1 + (place + 0.5) * cell;
  const floor = ARC_HEAD + ARC_ROOM;
  const named = arcLabels(view, weights, X, floor + ARC_CELL + (cell >= 20 ? 30 : 14), width);
  const node = s(
    "g",
    { class: "arc-strip" },
    label(0, 8, arcTitle(view, head, weights), { colour: view.colours.muted, halo: null, size: 12 }),
    arcCurves(view, weights, X, floor),
    arcTokens(view, weights, X, floor, cell, choose),
    named.node,
  );
  return { node, height: floor + ARC_CELL + (cell >= 20 ? 26 : 10) + named.height + 8, left: named.left };
}

/** @param {View} view @param {ArcHead} head @param {Float64Array} weights */
function arcTitle(view, head, weights) {
  const { task } = view.payload;
  const nothing = 1 - weights.reduce((sum, each) => sum + each, 0);
  const spare = head.extra > 0 ? `; ${percent(Math.max(0, nothing))} to no position` : "";
  const many = arcHeads(view).length > 1 ? `${head.name}: ` : "";
  const digit = view.answer.digits.find((each) => each.place === view.place);
  const writes = digit ? `, which writes ${task.positions[view.place + 1]}` : "";
  return `${many}attention weights of ${task.positions[view.place]}${writes}${spare}`;
}

/**
 * @param {View} view @param {Float64Array} weights @param {(place: number) => number} X @param {number} floor
 */
function arcCurves(view, weights, X, floor) {
  const from = X(view.place);
  const longest = Math.max(1, from - X(0));
  const order = [...weights.keys()]
    .filter((place) => weights[place] >= ARC_DRAWN)
    .sort((a, b) => weights[a] - weights[b]);
  return order.map((place) => {
    const to = X(place);
    const loop = place === view.place;
    const rise = loop ? 24 : 20 + ((from - to) / longest) * (ARC_ROOM - 22);
    const d = loop
      ? `M${from - 4} ${floor}C${from - 15} ${floor - rise} ${from + 15} ${floor - rise} ${from + 4} ${floor}`
      : `M${from} ${floor}C${from} ${floor - rise * 1.33} ${to} ${floor - rise * 1.33} ${to} ${floor}`;
    const strength = Math.min(1, 0.35 + weights[place] * 1.2);
    return s("path", {
      d,
      fill: "none",
      stroke: mix(view.colours.accent, view.colours.paper, strength),
      "stroke-width": (0.6 + 9 * weights[place]).toFixed(2),
      class: "arc",
      "data-place": place,
      "data-weight": String(weights[place]),
    });
  });
}

/**
 * The tokens read, and last the digit that no position reads.
 * @param {View} view @param {Float64Array} weights @param {(place: number) => number} X @param {number} floor
 * @param {number} cell @param {(place: number) => void} choose
 */
function arcTokens(view, weights, X, floor, cell, choose) {
  const { digits } = view.answer;
  return [...view.tokens, digits[digits.length - 1].token].map((token, place) => {
    const seen = place <= view.place;
    const target = place <= view.tokens.length - 1;
    const group = s("g", {
      cursor: target ? "pointer" : null,
      onclick: target ? () => choose(place) : null,
    });
    group.append(arcToken(view, token, place, X(place), floor, cell));
    if (cell >= 20)
      group.append(
        label(X(place), floor + ARC_CELL + 11, view.payload.task.positions[place], {
          colour: view.colours.muted,
          halo: null,
          size: 11,
          anchor: "middle",
        }),
      );
    const weight = seen ? `, weight ${String(weights[place])}` : "";
    group.append(s("title", {}, `position ${place} (${view.payload.task.positions[place]})${weight}`));
    return group;
  });
}

/**
 * @param {View} view @param {number} token @param {number} place @param {number} x @param {number} floor
 * @param {number} cell
 */
function arcToken(view, token, place, x, floor, cell) {
  const { colours, payload } = view;
  const mark = place < payload.task.prompt.length && payload.task.prompt[place] >= 0;
  const text = mark ? payload.task.positions[place].replace(/[<>]/g, "") : payload.tokens[token].label;
  const isLater = place > view.place + 1; // not written yet: an empty tile
  const fill = mark || isLater ? colours.zero : payload.tokens[token].colour;
  const ink = isLater ? colours.muted : mark ? colours.ink : payload.tokens[token].ink;
  const edge =
    place === view.place
      ? colours.ink
      : place === view.place + 1
        ? colours.accent
        : mark || isLater
          ? colours.faint
          : "none";
  const gap = cell >= 20 ? 1.5 : 0.5;
  const size = Math.max(
    text.length > 1 ? 0 : 11,
    Math.min(14, (cell * 1.1) / Math.max(1, text.length * 0.72)),
  );
  return s(
    "g",
    {},
    s("rect", {
      x: x - cell / 2 + gap,
      y: floor + 1,
      width: cell - 2 * gap,
      height: ARC_CELL - 2,
      rx: 2.5,
      fill,
      stroke: edge,
      "stroke-width": edge === colours.faint ? 1 : 2,
      "stroke-dasharray": place === view.place + 1 ? "3 2" : null,
    }),
    label(x, floor + ARC_CELL / 2, text, { colour: ink, halo: null, size, weight: 600, anchor: "middle" }),
  );
}

/**
 * The weights below the tokens; one without room in three rows is only in the saved data.
 * @param {View} view @param {Float64Array} weights @param {(place: number) => number} X @param {number} top
 * @param {number} width
 */
function arcLabels(view, weights, X, top, width) {
  const size = 11;
  const ends = new Array(ARC_LEVELS).fill(-Infinity);
  const node = s("g");
  let left = 0;
  let deepest = 0;
  weights.forEach((weight, place) => {
    if (weight <= ARC_NAMED) return;
    const text = short(weight, weight >= 0.1 ? 3 : 2).replace(/^0\./, ".");
    const half = textWidth(text, size) / 2 + 2;
    const x = Math.min(Math.max(X(place), half), width - half);
    const level = ends.findIndex((end) => x - half >= end);
    if (level < 0) return void (left += 1);
    ends[level] = x + half;
    deepest = Math.max(deepest, level);
    const y = top + level * 14;
    if (level)
      node.append(
        s("line", { x1: X(place), x2: X(place), y1: top - 7, y2: y - 7, stroke: view.colours.faint }),
      );
    node.append(label(x, y, text, { colours: view.colours, size, anchor: "middle", weight: 600 }));
  });
  return { node, height: 14 * (deepest + 1), left };
}
