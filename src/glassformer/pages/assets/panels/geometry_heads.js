// A head's own spaces: queries and keys in one plane, values in another, with the cursor's weighted sum.

import { s } from "../dom.js";
import { columnOf, largest } from "../judge.js";
import { arrow } from "../marks.js";
import { percent, short } from "../numbers.js";
import { namedPlaces, namesAt, originCross, placeDot, placeNameAt, starMark } from "./geometry_marks.js";
import { isDrawn, planeFor, planeNote, spotOf } from "./geometry_plane.js";
import { vectorRows } from "./geometry_tokens.js";
import { chosenHead, chosenLayer, placeName, spotName, tensorRow, tokenLabel, tokenPaint } from "./places.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./geometry.js").Picture} Picture */
/** @typedef {import("../chart.js").Plot} Plot */
/** @typedef {import("./geometry_plane.js").Plane} Plane */

const UNLIKE = 4; // sides that differ more in length are drawn to scales of their own, as in the figures

/**
 * The selected head's vectors at every position, and the cursor's scores, weights and sum.
 * @typedef {{name: string, queries: number[][], keys: number[][], values: number[][], scores: number[],
 *   weights: number[], sum: number[]}} Head
 */

/** @param {View} view @returns {Head|null} */
export function headOf(view) {
  const layer = chosenLayer(view);
  if (layer === null) return null;
  const head = chosenHead(view, layer);
  const { prefix, heads } = view.payload.model.layers[layer];
  const columns = (/** @type {string} */ part) =>
    view.tokens.map((_, place) => columnOf(view.at(`${prefix}attn.${part}`), place));
  const values = columns("v").map((vector) =>
    valuesOf(vector, view.at(`${prefix}attn.mixed`).shape[0], heads, head),
  );
  const weights = tensorRow(view.at(`${prefix}attn.weights.${head}`), view.place);
  const sum = values[0].map((_, dim) =>
    values.reduce(
      (total, value, place) => total + (place <= view.place ? weights[place] * value[dim] : 0),
      0,
    ),
  );
  const several = view.payload.model.layers.length > 1 || heads > 1;
  return {
    name: several ? ` of layer ${layer}, head ${head}` : "",
    queries: columns(`query.${head}`),
    keys: columns(`key.${head}`),
    values,
    weights,
    sum,
    scores: tensorRow(view.at(`${prefix}attn.scores.${head}`), view.place),
  };
}

/**
 * A head's part of all values. Heads may share values in groups; `mixed` has one part per head, except
 * for outputs of rank one, which read a single number off it.
 * @param {number[]} vector @param {number} mixed @param {number} heads @param {number} head
 */
function valuesOf(vector, mixed, heads, head) {
  const size = mixed / heads;
  const groups = vector.length / size;
  const isShared = heads > 1 && Number.isInteger(groups) && groups <= heads && heads % groups === 0;
  const [count, part] = isShared
    ? [size, Math.floor(head / (heads / groups))]
    : [vector.length / heads, head];
  return vector.slice(part * count, (part + 1) * count);
}

/** @param {View} view @param {Head} head @returns {Picture} */
export function queryKeyPicture(view, head) {
  const factor = sidesFactor(head);
  const queries = head.queries.map((vector) => vector.map((value) => value / factor));
  const keys = head.keys.map((vector) => vector.map((value) => value * factor));
  const plane = planeFor("q, k", [...queries, ...keys], view.state.headDims);
  const best = largest(head.weights.slice(0, view.place + 1));
  const answer =
    best < 0
      ? ""
      : `${spotName(view, view.place)} scores ${spotName(view, best)} highest: ${short(head.scores[best])}`;
  const spots = [...queries, ...keys].map((vector, i) => spotOf(plane, vector, i % queries.length));
  return {
    id: "queries and keys",
    title: `Queries and keys${head.name}`,
    plane,
    subtitle: "arrow: the cursor's query; discs: keys; rings: queries",
    spots: [...spots, [0, plane.isLine ? view.place : 0]],
    paint: (chart) => paintQueriesKeys(chart, view, plane, queries, keys, head),
    note: [planeNote(plane, "Queries and keys"), factorNote(factor)].filter(Boolean).join(" "),
    words: answer,
    rows: () => headRows(view, head),
  };
}

/** @param {Head} head */
function sidesFactor(head) {
  const longest = (/** @type {number[][]} */ side) =>
    Math.max(1e-9, ...side.map((vector) => Math.hypot(...vector)).filter(Number.isFinite));
  const ratio = longest(head.queries) / longest(head.keys);
  return ratio > 1 / UNLIKE && ratio < UNLIKE ? 1 : Number(Math.sqrt(ratio).toPrecision(1));
}

/** @param {number} factor */
function factorNote(factor) {
  if (factor === 1) return "";
  const [longer, shorter] = factor > 1 ? ["Queries", "keys"] : ["Keys", "queries"];
  const times = short(Math.max(factor, 1 / factor));
  return (
    `${longer} are drawn ${times} times smaller and ${shorter} ${times} times larger, ` +
    "so that both are visible; their products stay the same."
  );
}

/** @param {View} view @param {Head} head */
function headRows(view, head) {
  const [places, here] = [view.tokens.map((_, place) => place), placeName(view, view.place)];
  const token = (/** @type {number} */ place) => tokenLabel(view, view.tokens[place]);
  const vectors = (/** @type {string} */ item, /** @type {number[][]} */ side) =>
    places.flatMap((place) =>
      vectorRows("queries and keys", item, token(place), placeName(view, place), side[place]),
    );
  const seen = places.filter((place) => place <= view.place);
  return [
    ...vectors("query", head.queries),
    ...vectors("key", head.keys),
    ...seen.map((place) => [
      "queries and keys",
      `score from ${here}`,
      token(place),
      placeName(view, place),
      null,
      head.scores[place],
    ]),
  ];
}

/**
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {number[][]} queries
 * @param {number[][]} keys @param {Head} head
 */
function paintQueriesKeys(chart, view, plane, queries, keys, head) {
  const at = (/** @type {number[]} */ spot) =>
    /** @type {[number, number]} */ ([chart.X(spot[0]), chart.Y(spot[1])]);
  const dots = (/** @type {number[][]} */ side, /** @type {Object<string, any>} */ look) =>
    side.flatMap((vector, place) => {
      const spot = spotOf(plane, vector, place);
      return isDrawn(spot)
        ? [placeDot(view, place, ...at(spot), { ...look, faint: place > view.place })]
        : [];
    });
  chart.clipped.append(originCross(chart, view));
  const query = spotOf(plane, queries[view.place], view.place);
  const start = at([0, plane.isLine ? view.place : 0]);
  chart.layer.append(...dots(queries, { shape: "ring", kind: "query" }));
  if (isDrawn(query)) chart.layer.append(arrow(...start, ...at(query), view.colours.accent, { width: 2.4 }));
  chart.layer.append(...dots(keys, { kind: "key" }));
  const best = largest(head.weights.slice(0, view.place + 1));
  const names = namedPlaces(view, head.weights)
    .filter((place) => place <= view.place)
    .map((place) => {
      const name = placeNameAt(view, place, spotOf(plane, keys[place], place));
      return place === best
        ? { ...name, text: `${name.text}: ${short(head.scores[place], 3)}`, strong: true }
        : { ...name, strong: false };
    });
  chart.layer.append(
    ...namesAt(chart, view, [
      { spot: query, text: `query of ${spotName(view, view.place)}`, strong: true },
      ...names,
    ]),
  );
}

/** @param {View} view @param {Head} head @returns {Picture} */
export function valuePicture(view, head) {
  const plane = planeFor("v", [...head.values, head.sum], null);
  const chain = chainOf(view, head);
  const best = largest(head.weights.slice(0, view.place + 1));
  const from = best < 0 ? "" : `, ${percent(head.weights[best])} from ${spotName(view, best)}`;
  const here = placeName(view, view.place);
  return {
    id: "values",
    title: `Values${head.name}`,
    plane,
    subtitle: "arrows: weight × value, tip to tail; star: their sum",
    spots: [
      ...head.values.map((vector, place) => spotOf(plane, vector, place)),
      ...chain.map((vector) => spotOf(plane, vector, view.place)),
      spotOf(plane, head.sum, view.place),
    ],
    paint: (chart) => paintValues(chart, view, plane, head, chain),
    note: planeNote(plane, "Values"),
    words: `the weighted sum of the values${from}`,
    rows: () => [
      ...head.values.flatMap((vector, place) =>
        vectorRows("values", "value", tokenLabel(view, view.tokens[place]), placeName(view, place), vector),
      ),
      ...head.weights
        .slice(0, view.place + 1)
        .map((weight, place) => [
          "values",
          `weight from ${here}`,
          tokenLabel(view, view.tokens[place]),
          placeName(view, place),
          null,
          weight,
        ]),
      ...vectorRows("values", "weighted sum", tokenLabel(view, view.tokens[view.place]), here, head.sum),
    ],
  };
}

/** From 0, one weighted value after the other, up to the sum. @param {View} view @param {Head} head */
function chainOf(view, head) {
  const points = [head.sum.map(() => 0)];
  for (let place = 0; place <= view.place; place++) {
    points.push(points[place].map((value, dim) => value + head.weights[place] * head.values[place][dim]));
  }
  return points;
}

/**
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {Head} head @param {number[][]} chain
 */
function paintValues(chart, view, plane, head, chain) {
  const at = (/** @type {number[]} */ spot) =>
    /** @type {[number, number]} */ ([chart.X(spot[0]), chart.Y(spot[1])]);
  const spots = head.values.map((vector, place) => spotOf(plane, vector, place));
  chart.clipped.append(originCross(chart, view));
  spots.forEach((spot, place) => {
    if (isDrawn(spot))
      chart.layer.append(placeDot(view, place, ...at(spot), { faint: place > view.place, kind: "value" }));
  });
  const steps = chain.map((vector) => spotOf(plane, vector, view.place));
  for (let place = 0; place + 1 < steps.length; place++) {
    if (!isDrawn(steps[place + 1]) || !isDrawn(steps[place])) continue;
    chart.layer.append(
      arrow(...at(steps[place]), ...at(steps[place + 1]), tokenPaint(view, view.tokens[place]).colour, {
        width: 2.4,
      }),
    );
  }
  const end = spotOf(plane, head.sum, view.place);
  if (isDrawn(end)) chart.layer.append(starMark(...at(end), view.colours.ink, view.colours.paper));
  const named = namedPlaces(view, head.weights).filter((place) => place <= view.place);
  const names = named.map((place) => ({ ...placeNameAt(view, place, spots[place]), strong: false }));
  chart.layer.append(
    s("g", {}, ...namesAt(chart, view, [{ spot: end, text: "sum", strong: true }, ...names])),
  );
}
