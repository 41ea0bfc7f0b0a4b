// Success rates against the parameter count, with their intervals; by name where all counts are equal.

import { h, s } from "./dom.js";
import { grouped, percent, short } from "./numbers.js";
import { extent, niceTicks, textWidth } from "./ticks.js";
import { tip } from "./tip.js";

/** @typedef {import("./sweep_rows.js").SweepRow} SweepRow */

const SWEEP_WIDTH = 860;
const SWEEP_HEIGHT = 340;
const SWEEP_ROOM = { left: 56, right: 16, top: 12, bottom: 48 };
const BESIDE = 9; // pixels between marks at the same x

/** @param {SweepRow[]} rows */
export function sweepChart(rows) {
  const known = rows.filter((row) => row.rate !== null);
  const top = Math.max(0.01, ...known.map((row) => Math.max(row.reached_high, row.high)));
  const bottom = SWEEP_HEIGHT - SWEEP_ROOM.bottom;
  /** @param {number} share */
  const y = (share) => bottom - (share / top) * (bottom - SWEEP_ROOM.top);
  const across = acrossOf(rows);
  return s(
    "svg",
    { class: "sweep-chart", viewBox: `0 0 ${SWEEP_WIDTH} ${SWEEP_HEIGHT}`, role: "group", "aria-label": "Success rates" },
    niceTicks(0, top, 5).map((share) => [
      s("line", { class: "sweep-grid", x1: SWEEP_ROOM.left, x2: SWEEP_WIDTH - SWEEP_ROOM.right, y1: y(share), y2: y(share) }),
      s("text", { class: "sweep-tick", x: SWEEP_ROOM.left - 8, y: y(share) + 4, "text-anchor": "end" }, `${short(share * 100)}%`),
    ]).flat(),
    across.ticks.map(({ x, text }) =>
      s("text", { class: "sweep-tick", x, y: bottom + 20, "text-anchor": "middle" }, text),
    ),
    s("text", { class: "sweep-title", x: (SWEEP_WIDTH + SWEEP_ROOM.left) / 2, y: SWEEP_HEIGHT - 6, "text-anchor": "middle" }, across.title),
    rows.map((row, i) => (row.rate === null ? null : marksOf(row, across.places[i], y))),
  );
}

/**
 * The x of each row: by its parameter count, or in the order of the sweep.
 * @param {SweepRow[]} rows
 */
function acrossOf(rows) {
  const sizes = [...new Set(rows.map((row) => row.parameters))];
  return sizes.length > 1 ? bySize(rows, sizes) : byOrder(rows);
}

/** @param {SweepRow[]} rows @param {number[]} sizes */
function bySize(rows, sizes) {
  const wide = Math.max(...sizes) / Math.min(...sizes) > 20;
  /** @param {number} size */
  const scaled = (size) => (wide ? Math.log10(size) : size);
  const [low, high] = extent(sizes.map(scaled), 0.06);
  /** @param {number} size */
  const x = (size) => {
    const share = (scaled(size) - low) / (high - low);
    return SWEEP_ROOM.left + share * (SWEEP_WIDTH - SWEEP_ROOM.left - SWEEP_ROOM.right);
  };
  const places = rows.map((row, i) => {
    const same = rows.filter((other) => other.parameters === row.parameters);
    const before = rows.slice(0, i).filter((other) => other.parameters === row.parameters).length;
    return x(row.parameters) + 2 * BESIDE * (before - (same.length - 1) / 2);
  });
  const ticks = kept(sizes.sort((a, b) => a - b).map((size) => ({ x: x(size), text: grouped(size) })));
  return { places, ticks, title: `parameters${wide ? " (log scale)" : ""}` };
}

/** @param {SweepRow[]} rows */
function byOrder(rows) {
  const step = (SWEEP_WIDTH - SWEEP_ROOM.left - SWEEP_ROOM.right) / rows.length;
  const places = rows.map((_, i) => SWEEP_ROOM.left + (i + 0.5) * step);
  const texts = rows.map((row) => row.settings.replace(/[^ =]*\.(?=[^.=]*=)/g, "") || row.configuration);
  const ticks = kept(texts.map((text, i) => ({ x: places[i], text })));
  return { places, ticks, title: `configurations, ${grouped(rows[0].parameters)} parameters each` };
}

/** Labels that do not touch the one before. @param {Array<{x: number, text: string}>} ticks */
function kept(ticks) {
  let end = -Infinity;
  return ticks.filter(({ x, text }) => {
    const half = textWidth(text, 12) / 2;
    if (x - half < end) return false;
    end = x + half + 6;
    return true;
  });
}

/** Both rates of a row, with one tooltip. @param {SweepRow} row @param {number} x @param {(share: number) => number} y */
function marksOf(row, x, y) {
  const reached = x - BESIDE / 2;
  const proved = x + BESIDE / 2;
  const mark = s(
    "g",
    { class: "sweep-mark", role: "img", "aria-label": `${row.configuration}: ${wordsOf(row).join("; ")}` },
    s("rect", { class: "sweep-catch", x: x - BESIDE, y: y(1) < 0 ? 0 : y(1), width: 2 * BESIDE, height: y(0) }),
    s("line", { class: "sweep-reached", x1: reached, x2: reached, y1: y(row.reached_low), y2: y(row.reached_high) }),
    s("circle", { class: "sweep-reached", cx: reached, cy: y(row.reached_rate ?? 0), r: 4 }),
    row.success === "proved" &&
      s("line", { class: "sweep-proved", x1: proved, x2: proved, y1: y(row.low), y2: y(row.high) }),
    row.success === "proved" && s("circle", { class: "sweep-proved", cx: proved, cy: y(row.rate ?? 0), r: 4 }),
  );
  return tip(mark, () => [
    h("strong", {}, row.configuration),
    h("div", {}, `${grouped(row.parameters)} parameters, ${grouped(row.seeds)} seeds`),
    ...wordsOf(row).map((words) => h("div", {}, words)),
  ]);
}

/** @param {SweepRow} row */
function wordsOf(row) {
  const { rate, low, high, proved, tried, success } = row;
  return [
    success === "proved"
      ? `proved ${percent(rate ?? 0)} (${percent(low)} to ${percent(high)})`
      : `${proved} of ${tried} tried are proved`,
    `reached ${percent(row.reached_rate ?? 0)} (${percent(row.reached_low)} to ${percent(row.reached_high)})`,
  ];
}
