// Seeds as points and as curves: the best one ringed, proved ones as squares, the one shown strong.

import { pathOf, plot } from "../chart.js";
import { h, s } from "../dom.js";
import { label } from "../marks.js";
import { full, grouped } from "../numbers.js";
import { rove } from "../rove.js";
import { extent, tickText } from "../ticks.js";
import { tip } from "../tip.js";
import { unpack } from "../unpack.js";

/** @typedef {import("../types.js").PopulationView} View */
/** @typedef {import("../types.js").Colours} Colours */
/** @typedef {import("../chart.js").Plot} Plot */
/** @typedef {import("../types.js").Population} Population */
/** @typedef {import("../types.js").SeedRow} SeedRow */

const SEED_LOG_FROM = 8; // largest over smallest value: from here on the axis is logarithmic

/**
 * The measures that an axis can show.
 * @type {Object<string, {label: string, of: (row: SeedRow, lowest: number) => number}>}
 */
export const SEED_AXES = {
  loss: { label: "loss", of: (row) => row.loss },
  excess: { label: "loss minus lowest", of: (row, lowest) => row.loss - lowest },
  error: { label: "error (1 − accuracy)", of: (row) => 1 - row.argmax_accuracy },
  margin: { label: "smallest margin", of: (row) => row.smallest_margin },
  whole: { label: "error of whole inputs", of: (row) => 1 - row.whole_accuracy },
  probability: { label: "probability of the right token", of: (row) => row.right_probability },
  seed: { label: "seed", of: (row) => row.seed },
};

/**
 * @typedef {{domain: [number, number], label: string, log: boolean, ticks?: number[], format?: (v: number) =>
 *   string, place: (v: number) => number}} SeedAxis
 */

/**
 * A logarithmic axis for a wide range; 0 then has a tick of its own at the end.
 * @param {string} name @param {number[]} values @returns {SeedAxis}
 */
function seedAxis(name, values) {
  const finite = values.filter(Number.isFinite);
  const above = finite.filter((value) => value > 0);
  const [low, high] = [Math.min(...above), Math.max(...above)];
  const isLog =
    name !== "seed" && above.length > 1 && finite.every((value) => value >= 0) && high / low > SEED_LOG_FROM;
  if (!isLog)
    return {
      domain: extent(finite, 0.06),
      label: SEED_AXES[name].label,
      log: false,
      place: (value) => value,
    };
  const hasZero = above.length < finite.length;
  const zero = low / 4;
  const from = hasZero ? zero / 1.6 : low / 1.4;
  const ticks = [...(hasZero ? [zero] : []), ...seedPowers(low, high)];
  const format = (/** @type {number} */ value) => (value === zero && hasZero ? "0" : tickText(value));
  return {
    domain: [from, high * 1.4],
    label: `${SEED_AXES[name].label}, log`,
    log: true,
    ticks,
    format,
    place: (value) => (value > 0 ? value : zero),
  };
}

/**
 * Powers of ten between, or 1, 2 and 5 times them where there is hardly one.
 * @param {number} low @param {number} high
 */
function seedPowers(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const found = [];
  for (let power = first; power <= last; power++)
    for (const factor of last - first < 3 ? [1, 2, 5] : [1]) found.push(Number(`${factor}e${power}`));
  return found.filter((value) => value >= low * 0.9 && value <= high * 1.1);
}

/** @param {View} view @param {number} width @param {number} height @param {{x: string, y: string}} axes */
export function seedScatter(view, width, height, axes) {
  const { population } = view.payload;
  const lowest = Math.min(...population.rows.map((row) => row.loss).filter(Number.isFinite));
  const valueOf = (/** @type {string} */ name, /** @type {SeedRow} */ row) => SEED_AXES[name].of(row, lowest);
  const [x, y] = [axes.x, axes.y].map((name) =>
    seedAxis(
      name,
      population.rows.map((row) => valueOf(name, row)),
    ),
  );
  const chart = plot({ width, height, x, y, colours: view.colours });
  const marks = population.rows
    .map((row) => {
      const [across, up] = [x.place(valueOf(axes.x, row)), y.place(valueOf(axes.y, row))];
      if (!Number.isFinite(across) || !Number.isFinite(up)) return null;
      return seedMark(view, row, chart.X(across), chart.Y(up), chart.box);
    })
    .filter((mark) => mark !== null);
  marks.sort((one, two) => seedRank(view, one) - seedRank(view, two));
  chart.layer.append(...marks);
  if (marks.length) rove(chart.root, marks);
  return chart;
}

/** The least loss that a model with this window can have; NaN where it is not known. @param {View} view */
function floorOf(view) {
  return view.payload.training?.floor ?? NaN;
}

/** Losses that are close are shown minus the lowest. @param {View} view */
export function firstSeedAxis(view) {
  const losses = view.payload.population.rows.map((row) => row.loss).filter(Number.isFinite);
  return Math.max(...losses) / Math.min(...losses) > SEED_LOG_FROM ? "loss" : "excess";
}

/** The best seed and the one shown are drawn last. @param {View} view @param {Element} mark */
function seedRank(view, mark) {
  const seed = Number(mark.getAttribute("data-seed"));
  return seed === view.state.seed ? 2 : seed === view.payload.population.best_seed ? 1 : 0;
}

/** @param {View} view @param {SeedRow} row @param {number} x @param {number} y @param {{top: number}} box */
function seedMark(view, row, x, y, box) {
  const { colours, payload, state } = view;
  const { best_seed, params } = payload.population;
  const isOpen = row.seed === (state.seed ?? best_seed);
  const colour =
    row.verdict === "proved" ? colours.good : row.verdict === "refuted" ? colours.bad : colours.muted;
  const shape =
    row.verdict === "proved"
      ? s("rect", { x: x - 5.5, y: y - 5.5, width: 11, height: 11, fill: colour, stroke: colours.paper })
      : s("circle", {
          cx: x,
          cy: y,
          r: 5,
          fill: colour,
          "fill-opacity": row.verdict ? 1 : 0.55,
          stroke: colours.paper,
        });
  const ring =
    row.seed === best_seed &&
    s("circle", { cx: x, cy: y, r: 11, fill: "none", stroke: colours.accent, "stroke-width": 2 });
  const words =
    isOpen &&
    label(x, y - 20 < box.top + 4 ? y + 21 : y - 20, `seed ${row.seed}`, {
      colours,
      colour: colours.accent,
      anchor: "middle",
      weight: 600,
    });
  const touch = s("circle", { cx: x, cy: y, r: 14, fill: "transparent" });
  const attributes = {
    "data-seed": row.seed,
    "data-key": `seed-${row.seed}`,
    role: params ? "button" : "img",
    "aria-label": seedWords(row),
    cursor: params ? "pointer" : null,
  };
  const mark = s("g", attributes, touch, shape, ring, words);
  if (params) openOnPress(mark, view, row.seed);
  return tip(mark, () => seedTip(row, best_seed, params !== null));
}

/**
 * The patch that switches to a seed; the best one is the page's first state.
 * @param {View} view @param {number} seed
 */
export function openedSeed(view, seed) {
  return { seed: seed === view.payload.population.best_seed ? null : seed, step: null, changes: {} };
}

/** @param {Element} mark @param {View} view @param {number} seed */
function openOnPress(mark, view, seed) {
  const open = () => view.change(openedSeed(view, seed));
  mark.addEventListener("click", open);
  mark.addEventListener("keydown", (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event);
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    open();
  });
}

/** @param {SeedRow} row */
function seedWords(row) {
  return (
    `Seed ${row.seed}: loss ${full(row.loss)}, error ` +
    `${full(1 - row.argmax_accuracy)}${row.verdict ? `, ${row.verdict}` : ""}`
  );
}

/** @param {SeedRow} row @param {number} best @param {boolean} canOpen */
function seedTip(row, best, canOpen) {
  const lines = Object.entries(SEED_AXES)
    .filter(([name]) => name !== "seed" && name !== "excess")
    .map(([, axis]) => h("div", {}, `${axis.label}: ${full(axis.of(row, NaN))}`));
  const state = row.verdict ?? "no proof tried";
  return [
    h("strong", {}, `Seed ${row.seed}${row.seed === best ? ", best" : ""}: ${state}`),
    lines,
    canOpen && h("div", {}, "Click to switch to this seed's model"),
  ].flat();
}

/** @type {WeakMap<Population, import("../types.js").Tensor>} */
const seedLosses = new WeakMap();

/** Held-out losses, `seed step`; unpacked once. @param {Population} population */
function lossesOf(population) {
  const losses = seedLosses.get(population) ?? unpack(population.losses);
  seedLosses.set(population, losses);
  return losses;
}

/**
 * The loss of every seed over the training.
 * @param {View} view @param {number} width @param {number} height
 */
export function seedCurves(view, width, height) {
  const { population } = view.payload;
  const losses = lossesOf(population);
  const count = population.steps.length;
  const y = seedAxis("loss", [...losses.data, floorOf(view)]);
  const last = population.steps[count - 1];
  const chart = plot({
    width,
    height,
    x: { domain: [0, last], label: "step", format: grouped },
    y,
    colours: view.colours,
    margins: { right: 30 },
  });
  if (Number.isFinite(floorOf(view))) chart.clipped.append(floorLine(chart, floorOf(view), view.colours));
  const line = (/** @type {number} */ i, /** @type {Object<string, any>} */ look) => {
    const points = population.steps.map((step, n) => [step, losses.data[i * count + n]]);
    return s("path", {
      d: pathOf(points, chart.X, chart.Y),
      fill: "none",
      "stroke-linejoin": "round",
      ...look,
    });
  };
  const seeds = population.rows.map((row) => row.seed);
  seeds.forEach((/** @type {number} */ _, /** @type {number} */ i) =>
    chart.clipped.append(line(i, { stroke: view.colours.muted, "stroke-opacity": 0.4, "stroke-width": 1 })),
  );
  const shown = seeds.indexOf(view.state.seed ?? population.best_seed);
  if (shown >= 0) chart.clipped.append(line(shown, { stroke: view.colours.accent, "stroke-width": 2.5 }));
  return chart;
}

/** @param {Plot} chart @param {number} floor @param {Colours} colours */
function floorLine(chart, floor, colours) {
  const y = chart.Y(floor);
  return s("line", {
    x1: chart.box.left,
    x2: chart.box.left + chart.box.width,
    y1: y,
    y2: y,
    stroke: colours.muted,
    "stroke-dasharray": "4 3",
  });
}
