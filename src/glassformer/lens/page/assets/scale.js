// What the colours of a map mean: from the smallest to the largest number, on both sides of 0, or by powers
// of ten.

import { shareColour, signedColour } from "../../../pages/assets/colour.js";
import { s } from "../../../pages/assets/dom.js";
import { short } from "../../../pages/assets/numbers.js";
import { textWidth } from "../../../pages/assets/ticks.js";

/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */
/**
 * @typedef {{low: number, high: number, kind: "plain"|"signed"|"log", cut: boolean}} HeatScale  cut: some
 *   numbers lie below its beginning
 */

const CROWDED = 0.02; // share of the numbers that may lie below a scale's beginning
const FAR_BELOW = 0.25; // of the rest's range: below by more than this is too far to begin the scale there
const FLAT_RANGE = 1e-4; // of the numbers: a smaller range is none

/**
 * A few outliers at the low end do not spoil it.
 * @param {number[]} values @param {"plain"|"signed"|"log"} kind @returns {HeatScale}
 */
export function heatScale(values, kind) {
  const known = values
    .filter((value) => Number.isFinite(value) && (kind !== "log" || value > 0))
    .sort((a, b) => a - b);
  if (!known.length) return { low: 0, high: 1, kind: "plain", cut: false };
  const [low, high] = [known[0], known[known.length - 1]];
  if (kind === "signed") {
    const end = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return { low: -end, high: end, kind, cut: false };
  }
  if (kind === "log" && high > 20 * low) return { low, high, kind, cut: false };
  const crowd = known[Math.floor(CROWDED * (known.length - 1))];
  const from = crowd - low > FAR_BELOW * (high - crowd) && high > crowd ? crowd : low;
  if (high - from <= FLAT_RANGE * Math.abs(high))
    return { low: Math.min(0, 2 * high), high: Math.max(0, 2 * high) || 1, kind: "plain", cut: false };
  return { low: from, high, kind: "plain", cut: from > low };
}

/** @param {HeatScale} scale @param {number} value */
function heatShare({ low, high, kind }, value) {
  return kind === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** @param {HeatScale} scale @param {number} value @param {Colours} colours */
export function heatColour(scale, value, colours) {
  if (!Number.isFinite(value)) return value === Infinity ? colours.high : colours.paper;
  if (scale.kind === "signed") return signedColour(value, scale.high, colours);
  return shareColour(0.04 + 0.96 * Math.max(0, heatShare(scale, value)), colours);
}

/**
 * The scale as a bar with both ends named, because it need not begin at 0.
 * @param {HeatScale} scale @param {number} x @param {number} y @param {number} room @param {Colours} colours
 * @param {string} words
 */
export function heatBar(scale, x, y, room, colours, words) {
  const { low, high, kind, cut } = scale;
  const left = room - textWidth(words, 12) - 16;
  const isNamed = left >= 110;
  const width = Math.min(220, isNamed ? left : room);
  const middle = kind === "log" ? Math.sqrt(low * high) : (low + high) / 2;
  const count = 48;
  const at = (/** @type {number} */ share) =>
    kind === "log" ? low * (high / low) ** share : low + share * (high - low);
  const strips = Array.from({ length: count }, (_, i) =>
    s("rect", {
      x: x + (i * width) / count,
      y,
      width: width / count + 0.6,
      height: 9,
      fill: heatColour(scale, at((i + 0.5) / count), colours),
    }),
  );
  const texts = [
    [0, cut ? `≤ ${short(low, 3)}` : short(low, 3), "start"],
    [0.5, short(middle, 3), "middle"],
    [1, short(high, 3), "end"],
  ].map(([share, text, anchor]) =>
    s(
      "text",
      {
        x: x + Number(share) * width,
        y: y + 23,
        "text-anchor": anchor,
        fill: colours.muted,
        "font-size": 11,
      },
      text,
    ),
  );
  const frame = s("rect", { x, y, width, height: 9, fill: "none", stroke: colours.faint });
  return s(
    "g",
    {},
    strips,
    frame,
    texts,
    isNamed && s("text", { x: x + width + 12, y: y + 9, fill: colours.muted, "font-size": 12 }, words),
  );
}
