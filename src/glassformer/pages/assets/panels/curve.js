// The curve under the scrubber: loss and rule error of the best seed, and the checkpoint shown.

import { h, s } from "../dom.js";
import { grouped, percent, short } from "../numbers.js";

/** @typedef {import("../types.js").Training} Training */

const CURVE_WIDTH = 600;
const CURVE_HEIGHT = 44;
const CURVE_END = 4; // pixels at the right end that mean the final model
const CURVE_LOG_FROM = 20; // largest loss over smallest: from here on the scale is logarithmic

/**
 * `go` is called with the step of a click, null at the right end. Colours come from the style sheet: this
 * picture is never exported.
 * @param {Training} training @param {(step: number|null) => void} go
 */
export function scrubberCurve(training, go) {
  const { rows, floor } = training;
  if (!rows.length) return { root: h("span"), show: () => {} };
  const last = Math.max(...training.steps, ...rows.map((row) => row.step));
  const x = (/** @type {number} */ step) => (step / last) * CURVE_WIDTH;
  const scale = lossScale(
    rows.map((row) => row.loss),
    floor,
  );
  const cursor = s("line", {
    class: "curve-cursor",
    y1: 0,
    y2: CURVE_HEIGHT,
    "vector-effect": "non-scaling-stroke",
  });
  const root = s(
    "svg",
    {
      viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": curveWords(rows, floor),
      onclick: click,
    },
    floor !== null &&
      curveLine("curve-floor", [
        [0, scale.y(floor)],
        [CURVE_WIDTH, scale.y(floor)],
      ]),
    curveLine(
      "curve-error",
      rows.map((row) => [x(row.step), curveHeight(1 - row.argmax_accuracy)]),
    ),
    curveLine(
      "curve-loss",
      rows.map((row) => [x(row.step), scale.y(row.loss)]),
    ),
    cursor,
  );
  /** @param {MouseEvent} event */
  function click(event) {
    const box = root.getBoundingClientRect();
    const isEnd = box.right - event.clientX < CURVE_END;
    go(isEnd ? null : ((event.clientX - box.left) / box.width) * last);
  }
  /** @param {number|null|undefined} step  undefined: nowhere */
  function show(step) {
    cursor.setAttribute("visibility", step === undefined ? "hidden" : "visible");
    for (const name of ["x1", "x2"]) cursor.setAttribute(name, String(x(step ?? last)));
  }
  return { root: h("div", { class: "curve" }, root, curveLegend(scale.isLog, floor)), show };
}

/** From the largest loss (top) to the smallest or the floor (bottom), with a little air. */
function lossScale(/** @type {number[]} */ losses, /** @type {number|null} */ floor) {
  const finite = losses.filter(Number.isFinite);
  const low = Math.min(...finite, floor ?? Infinity);
  const high = Math.max(...finite);
  const isLog = low > 0 && high / low > CURVE_LOG_FROM;
  const bent = isLog ? Math.log : (/** @type {number} */ value) => value;
  const share = (/** @type {number} */ value) => (bent(value) - bent(low)) / (bent(high) - bent(low) || 1);
  return { isLog, y: (/** @type {number} */ value) => curveHeight(share(value)) };
}

/** @param {number} share */
function curveHeight(share) {
  return 2 + (1 - share) * (CURVE_HEIGHT - 4);
}

/** @param {string} name @param {number[][]} points */
function curveLine(name, points) {
  const d = points
    .filter(([, y]) => Number.isFinite(y))
    .map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`);
  return s("path", { class: name, d: d.join(""), fill: "none", "vector-effect": "non-scaling-stroke" });
}

/** @param {boolean} isLog @param {number|null} floor */
function curveLegend(isLog, floor) {
  return h(
    "div",
    { class: "curve-legend", "aria-hidden": "true" },
    h("span", { class: "key-loss" }, isLog ? "loss (log)" : "loss"),
    h("span", { class: "key-error" }, "error"),
    floor !== null && h("span", { class: "key-floor" }, "entropy floor"),
  );
}

/** @param {Training["rows"]} rows @param {number|null} floor */
function curveWords(rows, floor) {
  const [first, last] = [rows[0], rows[rows.length - 1]];
  const under = floor === null ? "" : ` The entropy floor is ${short(floor)}.`;
  return (
    `Loss from ${short(first.loss)} at step ${grouped(first.step)} ` +
    `to ${short(last.loss)} at step ${grouped(last.step)}, ` +
    `error from ${percent(1 - first.argmax_accuracy)} to ${percent(1 - last.argmax_accuracy)}.${under}`
  );
}
