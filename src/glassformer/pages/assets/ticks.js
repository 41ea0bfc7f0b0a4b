// Round numbers on an axis, and how wide their labels are.

import { raised, short } from "./numbers.js";

const LETTER_WIDTH = 0.58; // mean width of a character, as a share of the size of its font

/**
 * Width of a text in pixels, near enough to keep labels apart without asking the browser for a layout.
 * @param {string} text @param {number} size
 */
export function textWidth(text, size) {
  let width = 0;
  for (const letter of text)
    width += NARROW_LETTERS.includes(letter) ? 0.32 : WIDE_LETTERS.includes(letter) ? 0.86 : LETTER_WIDTH;
  return width * size;
}
const NARROW_LETTERS = " .,:;'|!ijltfI()[]";
const WIDE_LETTERS = "mwMWGOQ@%";

/**
 * Lowest and highest of the finite values, with `room` (a share of the span) on both sides.
 * @param {Iterable<number>} values @param {number} [room] @returns {[number, number]}
 */
export function extent(values, room = 0.05) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  const span = high - low || Math.abs(high) || 1;
  const pad = high > low ? span * room : span * Math.max(room, 0.1);
  return [low - pad, high + pad];
}

/**
 * About `count` round numbers from low to high: niceTicks(0, 1, 5) is 0, 0.2, ... 1.
 * @param {number} low @param {number} high @param {number} [count] @returns {number[]}
 */
export function niceTicks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = raw / power;
  const step =
    power * (factor >= Math.sqrt(50) ? 10 : factor >= Math.sqrt(10) ? 5 : factor >= Math.sqrt(2) ? 2 : 1);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toFixed(Math.min(20, decimals))),
  );
}

/**
 * Powers of ten from low to high, with 2 and 5 times them where few fit.
 * @param {number} low @param {number} high @param {number} [count] @returns {number[]}
 */
export function logTicks(low, high, count = 5) {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / count));
  const between = last - first <= 2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = first; power <= last; power++) {
    if (power % every) continue;
    for (const factor of between) ticks.push(Number(`${factor}e${power}`));
  }
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

/** A tick's text: 0.1, 1000, 10⁻⁵. @param {number} value */
export function tickText(value) {
  const power = Math.log10(Math.abs(value));
  const round = Math.round(power);
  if (value > 0 && Math.abs(power - round) < 1e-9 && (round < -3 || round > 4)) return `10${raised(round)}`;
  return short(value, 6).replace(/\.?0+e/, "e");
}
