// The residual stream: from e through z to h on the landscape of the next token, and the units' hinges.

import { s } from "../dom.js";
import { mix } from "../colour.js";
import { columnOf, largest } from "../judge.js";
import { arrow, label } from "../marks.js";
import { exactLandOf, hingesOf, landOf } from "./geometry_land.js";
import { movingPlaces, namesAt, placeDot } from "./geometry_marks.js";
import { isDrawn, planeFor, planeNote, spotOf } from "./geometry_plane.js";
import { vectorRows } from "./geometry_tokens.js";
import { placeName, spotName, tokenLabel, tokenPaint } from "./places.js";
import { polygonSpot, regionPaths, regionShapes, regionSpots } from "./regions.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./geometry.js").Picture} Picture */
/** @typedef {import("../chart.js").Plot} Plot */
/** @typedef {import("./geometry_plane.js").Plane} Plane */
/**
 * @typedef {{name: string, by: string, states: number[][]}} Step  a state per position, and what moved it
 *   there
 */

const ROOM = 0.14; // round what is drawn, as a share of it
const NAME_ROOM = 10; // pixels from the name of a region to its border

/** e, then z and h of every layer. @param {View} view @returns {Step[]} */
export function streamSteps(view) {
  const { layers } = view.payload.model;
  const columns = (/** @type {string} */ name) =>
    view.tokens.map((_, place) => columnOf(view.at(name), place));
  const steps = [{ name: "e", by: "", states: columns("embedded") }];
  layers.forEach((layer, index) => {
    const number = layers.length > 1 ? String(index) : "";
    if (layer.attention)
      steps.push({ name: `z${number}`, by: "attention", states: columns(`${layer.prefix}mid`) });
    if (layer.feedforward)
      steps.push({ name: `h${number}`, by: "feed-forward", states: columns(`${layer.prefix}stream`) });
  });
  return steps;
}

/** The most probable token after a position. @param {View} view @param {number} place */
export function winnerAfter(view, place) {
  return largest(columnOf(view.logits, place));
}

/** @param {View} view @param {Step[]} steps @returns {Picture} */
export function streamPicture(view, steps) {
  const places = movingPlaces(view);
  const plane = planeFor(
    "stream",
    places.flatMap((place) => steps.map((step) => step.states[place])),
    view.state.dims,
  );
  const winner = tokenLabel(view, winnerAfter(view, view.place));
  const slice =
    plane.width > 2
      ? "The map is a slice through the cursor's last state; other arrows are projected onto it."
      : "";
  const names = steps.map((step) => step.name).join(" → ");
  return {
    id: "residual stream",
    title: `Residual stream: ${names}`,
    plane,
    room: ROOM,
    subtitle: "regions: the token that would be written there",
    spots: places.flatMap((place) =>
      steps.map((step, i) => spotOf(plane, step.states[place], place + 0.3 * i)),
    ),
    paint: (chart) => paintStream(chart, view, plane, steps, places),
    note: [planeNote(plane, "Residual stream"), slice].filter(Boolean).join(" "),
    words: `the stream at ${spotName(view, view.place)} goes ${names} and ends in the region of ${winner}`,
    rows: () =>
      view.tokens.flatMap((token, place) =>
        steps.flatMap((step) =>
          vectorRows(
            "residual stream",
            step.name,
            tokenLabel(view, token),
            placeName(view, place),
            step.states[place],
          ),
        ),
      ),
  };
}

/**
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {Step[]} steps @param {number[]} places
 */
function paintStream(chart, view, plane, steps, places) {
  const last = steps[steps.length - 1];
  const taken = paintLand(chart, view, plane, "readout", last.states[view.place], view.colours.tint);
  const spot = (/** @type {number} */ place, /** @type {number} */ i) =>
    spotOf(plane, steps[i].states[place], place + 0.3 * i);
  const at = (/** @type {number[]} */ where) =>
    /** @type {[number, number]} */ ([chart.X(where[0]), chart.Y(where[1])]);
  for (const place of [...places.filter((one) => one !== view.place), view.place]) {
    steps
      .slice(1)
      .forEach((step, i) =>
        chart.layer.append(
          stepArrow(chart, view, spot(place, i), spot(place, i + 1), step.by, place === view.place),
        ),
      );
    const [start, end] = [spot(place, 0), spot(place, steps.length - 1)];
    if (isDrawn(start)) chart.layer.append(placeDot(view, place, ...at(start), { kind: "e" }));
    const colour = tokenPaint(view, winnerAfter(view, place)).colour;
    if (isDrawn(end) && steps.length > 1)
      chart.layer.append(placeDot(view, place, ...at(end), { shape: "square", colour, kind: last.name }));
  }
  const ends = steps.map((step, i) => ({
    spot: spot(view.place, i),
    text: i ? step.name : `e: ${spotName(view, view.place)}`,
    strong: true,
  }));
  chart.layer.append(...taken, ...namesAt(chart, view, ends));
}

/**
 * @param {Plot} chart @param {View} view @param {number[]} from @param {number[]} to @param {string} by
 * @param {boolean} isCursor
 */
function stepArrow(chart, view, from, to, by, isCursor) {
  if (!isDrawn(from) || !isDrawn(to)) return s("g");
  const colour = by === "attention" ? view.colours.accent : view.colours.ink;
  const look = isCursor ? { width: 2.8, head: 10 } : { width: 0.9, head: 5, opacity: 0.55 };
  return arrow(chart.X(from[0]), chart.Y(from[1]), chart.X(to[0]), chart.Y(to[1]), colour, look);
}

/**
 * The tinted regions; returns their names, which are drawn last.
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {"settle"|"readout"} kind
 * @param {number[]} base @param {number} tint
 */
function paintLand(chart, view, plane, kind, base, tint) {
  if (!base.every(Number.isFinite)) return [];
  const { paths, spots } = regionsUnder(chart, view, plane, kind, base);
  chart.clipped.prepend(...regionShapes(paths, view.payload.tokens, view.colours, tint));
  return spots.map(({ token, x, y }) =>
    label(x, y, tokenLabel(view, token), {
      colours: view.colours,
      halo: mix(tokenPaint(view, token).colour, view.colours.paper, tint),
      size: 14,
      anchor: "middle",
      weight: 600,
    }),
  );
}

/**
 * Regions, exact where they are polygons, and where their names have room.
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {"settle"|"readout"} kind
 * @param {number[]} base
 */
function regionsUnder(chart, view, plane, kind, base) {
  const exact = kind === "readout" ? exactLandOf(view, plane, base, chart) : null;
  if (exact) {
    const spots = exact.map(({ token, points }) => ({ token, ...polygonSpot(points) }));
    return {
      paths: new Map(
        exact.map(({ token, points }) => [
          token,
          `M${points.map((point) => point.map((one) => one.toFixed(1)).join(" ")).join("L")}Z`,
        ]),
      ),
      spots: spots.filter(({ room }) => room >= NAME_ROOM),
    };
  }
  const land = landOf(view, kind, plane, base, chart);
  if (!land) return { paths: new Map(), spots: [] };
  const cell = Math.min(chart.box.width, chart.box.height) / land.grid;
  return {
    paths: regionPaths(land),
    spots: regionSpots(land).filter(({ room }) => room * cell >= 1.4 * NAME_ROOM),
  };
}

/** @param {View} view @param {Step[]} steps @returns {Picture|null} */
export function hingePicture(view, steps) {
  const { layers } = view.payload.model;
  const layer = layers[layers.length - 1];
  if (!layer.feedforward) return null;
  const [entering, middle] = layer.attention
    ? [steps[steps.length - 3], steps[steps.length - 2]]
    : [null, steps[steps.length - 2]];
  const places = movingPlaces(view);
  const shown = entering ? [entering, middle] : [middle];
  const plane = planeFor(
    middle.name,
    places.flatMap((place) => shown.map((step) => step.states[place])),
    view.state.dims,
  );
  const units = unitsOf(view, layer);
  const on = units.bent.filter((value) => value > 0).length;
  const slice = plane.width > 2 ? `Hinges and map are a slice through the cursor's ${middle.name}.` : "";
  return {
    id: "hinges",
    title: `Feed-forward hinges in the plane of ${middle.name}`,
    plane,
    room: ROOM,
    subtitle: "lines: where a unit switches, dashed if it is off; regions: the next token",
    spots: places.flatMap((place) =>
      shown.map((step, i) => spotOf(plane, step.states[place], place + 0.3 * i)),
    ),
    paint: (chart) => paintHinges(chart, view, plane, shown, places, units),
    note: [planeNote(plane, "Hinges"), slice].filter(Boolean).join(" "),
    words: `${on} of ${units.bent.length} feed-forward units are on at ${spotName(view, view.place)}`,
    rows: () => unitRows(view, units),
  };
}

/**
 * Each unit's pre-activation and output at the cursor, in the last layer.
 * @param {View} view @param {import("../types.js").Layer} layer
 */
function unitsOf(view, layer) {
  const bent = columnOf(view.at(`${layer.prefix}ff.${layer.gated ? "gate" : "up"}`), view.place);
  return { bent, hidden: columnOf(view.at(`${layer.prefix}ff.hidden`), view.place) };
}

/** @param {View} view @param {{bent: number[], hidden: number[]}} units */
function unitRows(view, { bent, hidden }) {
  const [token, place] = [tokenLabel(view, view.tokens[view.place]), placeName(view, view.place)];
  return bent.flatMap((value, unit) => [
    ["hinges", "bent by unit", token, place, unit, value],
    ["hinges", "given by unit", token, place, unit, hidden[unit]],
  ]);
}

/**
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {Step[]} shown @param {number[]} places
 * @param {{bent: number[], hidden: number[]}} units
 */
function paintHinges(chart, view, plane, shown, places, units) {
  const middle = shown[shown.length - 1];
  const base = middle.states[view.place];
  const at = (/** @type {number[]} */ where) =>
    /** @type {[number, number]} */ ([chart.X(where[0]), chart.Y(where[1])]);
  const taken = paintLand(chart, view, plane, "settle", base, view.colours.tint * 0.7);
  const names = base.every(Number.isFinite) ? paintLines(chart, view, plane, base, units) : [];
  const spot = (/** @type {number} */ place, /** @type {number} */ i) =>
    spotOf(plane, shown[i].states[place], place + 0.3 * i);
  for (const place of [...places.filter((one) => one !== view.place), view.place]) {
    const end = spot(place, shown.length - 1);
    if (shown.length > 1 && place === view.place)
      chart.layer.append(stepArrow(chart, view, spot(place, 0), end, "attention", true));
    const colour = tokenPaint(view, winnerAfter(view, place)).colour;
    if (isDrawn(end)) chart.layer.append(placeDot(view, place, ...at(end), { colour, kind: middle.name }));
  }
  const ends = shown.map((step, i) => ({ spot: spot(view.place, i), text: step.name, strong: true }));
  chart.layer.append(...taken, ...namesAt(chart, view, [...ends, ...names]));
}

/**
 * @param {Plot} chart @param {View} view @param {Plane} plane @param {number[]} base
 * @param {{bent: number[], hidden: number[]}} units
 */
function paintLines(chart, view, plane, base, { bent, hidden }) {
  const most = Math.max(1e-300, ...hidden.map(Math.abs));
  const order = hidden.map((_, unit) => unit).sort((a, b) => Math.abs(hidden[b]) - Math.abs(hidden[a]));
  const named = new Set(order.slice(0, 5).filter((unit) => bent[unit] > 0));
  return hingesOf(view, plane, base, chart).flatMap((hinge, unit) => {
    if (!hinge.pieces.length) return [];
    const isOn = bent[unit] > 0;
    const look = {
      stroke: isOn ? view.colours.positive : view.colours.muted,
      fill: "none",
      "stroke-dasharray": isOn ? null : "4 3",
      "data-unit": unit,
      "stroke-width": isOn ? 0.8 + 1.4 * Math.abs(hidden[unit] / most) : 0.8,
      "stroke-opacity": isOn ? 0.3 + 0.65 * Math.abs(hidden[unit] / most) : 0.4,
    };
    chart.clipped.append(s("path", { d: hingePath(chart, hinge, isOn), ...look }));
    const piece = hinge.pieces[Math.floor(hinge.pieces.length / 2)];
    const share = 0.3 + 0.4 * ((unit * 0.618) % 1);
    const spot = [0, 1].map((axis) => piece[0][axis] * (1 - share) + piece[1][axis] * share);
    return named.has(unit) ? [{ spot, text: `u${unit}` }] : [];
  });
}

/**
 * The line, and of a unit that is on a tick from its middle to that side.
 * @param {Plot} chart @param {import("./geometry_land.js").Hinge} hinge @param {boolean} isOn
 */
function hingePath(chart, { line, pieces }, isOn) {
  const point = (/** @type {number[]} */ where) =>
    `${chart.X(where[0]).toFixed(1)} ${chart.Y(where[1]).toFixed(1)}`;
  const d = pieces.map(([from, to]) => `M${point(from)}L${point(to)}`).join("");
  if (!line || !isOn) return d;
  const [x, y] = [(pieces[0][0][0] + pieces[0][1][0]) / 2, (pieces[0][0][1] + pieces[0][1][1]) / 2];
  const { left, top } = chart.box;
  const pixel = [chart.invX(left + 1) - chart.invX(left), chart.invY(top + 1) - chart.invY(top)];
  const across = [line.slope[0] * pixel[0], line.slope[1] * pixel[1]];
  const size = Math.hypot(...across) || 1;
  return `${d}M${point([x, y])}l${((9 * across[0]) / size).toFixed(1)} ${((9 * across[1]) / size).toFixed(1)}`;
}
