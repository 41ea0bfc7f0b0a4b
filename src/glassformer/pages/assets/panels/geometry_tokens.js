// Embeddings: every token, every token at every position of the input, and the input itself.

import { s } from "../dom.js";
import { pathOf } from "../chart.js";
import { columnOf } from "../judge.js";
import { isWideVocabulary } from "./few_tokens.js";
import {
  namedPlaces,
  namesAt,
  originCross,
  placeDot,
  placeNameAt,
  tokenDisc,
  tokenDot,
} from "./geometry_marks.js";
import { isDrawn, planeFor, planeNote, spotOf } from "./geometry_plane.js";
import { placeName, spotName, tensorRow, tokenLabel, tokenPaint } from "./places.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./geometry.js").Picture} Picture */

const UNDER_DISC = 3; // pixels: a position that adds nothing is behind its token, the cursor as a ring
const MOST_PAIRS = 400; // tokens x positions, up to which all of them are drawn

/** @param {View} view @returns {Picture} */
export function embeddingPicture(view) {
  const tokens = tokenVectors(view);
  const places = view.tokens.map((_, place) => columnOf(view.at("embedded"), place));
  const plane = planeFor("e", [...tokens, ...places], view.state.dims);
  const here = spotName(view, view.place);
  const clouds = tokens.length * places.length <= MOST_PAIRS ? pairSpots(view, plane, tokens, places) : [];
  return {
    id: "embeddings",
    title: "Embeddings",
    plane,
    subtitle: "discs: tokens; dots: token + position, large if in the input",
    spots: [
      ...tokens.map((vector) => spotOf(plane, vector, 0)),
      ...places.map((vector, place) => spotOf(plane, vector, place)),
      ...clouds.flat(),
    ],
    paint: (chart) => paintEmbeddings(chart, view, plane, tokens, places, clouds),
    note: planeNote(plane, "Embeddings"),
    words: `embedding of ${here} at ${plane.labels.join(", ")}`,
    rows: () => [
      ...tokens.flatMap((vector, token) =>
        vectorRows("embeddings", "token", tokenLabel(view, token), null, vector),
      ),
      ...places.flatMap((vector, place) =>
        vectorRows(
          "embeddings",
          "token + position",
          tokenLabel(view, view.tokens[place]),
          placeName(view, place),
          vector,
        ),
      ),
    ],
  };
}

/**
 * Tokens alone, as wide as the stream: zeros where positions are stacked under them.
 * @param {View} view @returns {number[][]}
 */
function tokenVectors(view) {
  const table = view.at("token.table");
  const width = view.payload.model.width;
  return view.payload.tokens.slice(0, table.shape[0]).map((_, token) => {
    const row = tensorRow(table, token);
    return [...row, ...new Array(Math.max(0, width - row.length)).fill(0)];
  });
}

/**
 * A table's rows for a vector.
 * @param {string} picture @param {string} item @param {string} token @param {string|null} place
 * @param {number[]} vector
 */
export function vectorRows(picture, item, token, place, vector) {
  return vector.map((value, dim) => [picture, item, token, place, dim, value]);
}

/**
 * @param {import("../chart.js").Plot} chart @param {View} view
 * @param {import("./geometry_plane.js").Plane} plane @param {number[][]} tokens @param {number[][]} places
 * @param {number[][][]} clouds
 */
function paintEmbeddings(chart, view, plane, tokens, places, clouds) {
  const at = (/** @type {number[]} */ spot) =>
    /** @type {[number, number]} */ ([chart.X(spot[0]), chart.Y(spot[1])]);
  chart.clipped.append(originCross(chart, view));
  chart.clipped.append(
    ...clouds.map((spots, token) => pairCloud(chart, spots, tokenPaint(view, token).colour)),
  );
  const spots = places.map((vector, place) => spotOf(plane, vector, place));
  const lines = spots.flatMap((spot, place) => {
    const from = tokens[view.tokens[place]] ? spotOf(plane, tokens[view.tokens[place]], 0) : spot;
    if (!isDrawn(spot) || !isDrawn(from)) return [];
    const d = pathOf([from, spot], chart.X, chart.Y);
    return [
      s("path", {
        d,
        stroke: tokenPaint(view, view.tokens[place]).colour,
        "stroke-width": place === view.place ? 2 : 1,
        fill: "none",
      }),
    ];
  });
  chart.clipped.append(...lines);
  const isNamed = (/** @type {number} */ token) =>
    !isWideVocabulary(tokens.length) || view.tokens.includes(token);
  const discs = tokens
    .map((vector) => spotOf(plane, vector, 0))
    .map((spot, token) =>
      !isDrawn(spot)
        ? null
        : isNamed(token)
          ? tokenDisc(view, token, ...at(spot), 8)
          : tokenDot(view, token, ...at(spot)),
    );
  const isUnder = (/** @type {number} */ place) => {
    const own = tokens[view.tokens[place]];
    const [from, to] = [at(own ? spotOf(plane, own, 0) : [NaN, NaN]), at(spots[place])];
    return Math.hypot(from[0] - to[0], from[1] - to[1]) < UNDER_DISC;
  };
  const dots = (/** @type {boolean} */ under) =>
    spots.flatMap((spot, place) => {
      if (!isDrawn(spot) || isUnder(place) !== under) return [];
      const radius = under && place === view.place ? 12 : undefined;
      return [placeDot(view, place, ...at(spot), { kind: "embedded", radius })];
    });
  chart.layer.append(...dots(true), ...discs.filter((disc) => disc !== null), ...dots(false));
  chart.layer.append(
    ...namesAt(
      chart,
      view,
      namedPlaces(view, null).map((place) => placeNameAt(view, place, spots[place])),
      tokens.filter((_, token) => isNamed(token)).map((vector) => spotOf(plane, vector, 0)),
    ),
  );
}

/**
 * Where every token would be at every position of the input.
 * @param {View} view @param {import("./geometry_plane.js").Plane} plane @param {number[][]} tokens
 * @param {number[][]} places
 */
function pairSpots(view, plane, tokens, places) {
  const shifts = places.map((vector, place) =>
    vector.map((value, dim) => value - (tokens[view.tokens[place]]?.[dim] ?? 0)),
  );
  return tokens.map((vector) =>
    shifts.map((shift, place) =>
      spotOf(
        plane,
        vector.map((value, dim) => value + shift[dim]),
        place,
      ),
    ),
  );
}

/**
 * A token at every position: pale dots, joined along the positions.
 * @param {import("../chart.js").Plot} chart @param {number[][]} spots @param {string} colour
 */
function pairCloud(chart, spots, colour) {
  const dots = spots
    .filter(isDrawn)
    .map(([x, y]) => `M${chart.X(x).toFixed(1)} ${chart.Y(y).toFixed(1)}h0`)
    .join("");
  const look = { fill: "none", stroke: colour, "stroke-linecap": "round" };
  return s(
    "g",
    { opacity: 0.4 },
    s("path", { d: pathOf(spots, chart.X, chart.Y), "stroke-width": 0.6, ...look }),
    s("path", { d: dots, "stroke-width": 4, ...look }),
  );
}
