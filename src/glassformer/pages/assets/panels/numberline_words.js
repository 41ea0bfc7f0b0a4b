// The number line in words and as a table: its note, text alternative and data.

import { full, percent, short } from "../numbers.js";

/** @typedef {import("../types.js").AdderView} View */
/** @typedef {import("./numberline_data.js").LineData} LineData */

/** No long row of nines. @param {number} share */
export function shareWords(share) {
  return share > 0.999 && share < 1 ? "over 99.9%" : percent(share);
}

/** @param {LineData} data */
export function lineNote(data) {
  const { digit, source, sums, lines } = data;
  const [line] = lines;
  const parts = [
    `The axis is ${source.what} at the position that writes column ${digit.column}, ` +
      `along the direction in which ${sums.right.length} test sums differ most ` +
      `(${shareWords(line.share)} of the variance).`,
    "The bands show what the rest of the model writes when the current state moves along that direction; " +
      "they also hold for the outlined dots, as far as those differ from it only along this line.",
  ];
  if (line.carryMove !== null)
    parts.push(
      `A carry moves the state by ${short(line.carryMove)}` +
        `${line.digitMove === null ? "" : `, one more in the column by ${short(line.digitMove)}`} ` +
        "(least squares over sums with the same query token).",
    );
  const border =
    line.nearest === null
      ? "There is no border on the line"
      : `The nearest border is ${short(Math.abs(line.nearest - line.now))} away on the line`;
  parts.push(`Margin of the right digit: ${short(digit.margin)} in logits. ${border}.`);
  if (line.outside)
    parts.push(
      `${line.outside} sums lie outside the line, which is zoomed in so that the current band is visible.`,
    );
  return parts.join(" ");
}

/** @param {View} view @param {LineData} data */
export function lineAlt(view, data) {
  const [line] = data.lines;
  const labels = line.bands.map(({ winner }) => view.payload.tokens[winner].label).join(", ");
  const near = line.nearest === null ? "no border" : `the nearest border at ${short(line.nearest)}`;
  return (
    `Number line of column ${data.digit.column} of ${view.answer.a} + ${view.answer.b}: ` +
    `the state is at ${short(line.now)} and writes ` +
    `${view.payload.tokens[data.digit.token].label}, with ${near}. ` +
    `From left to right the bands write ${labels}.`
  );
}

/** @param {View} view @param {LineData} data */
export function lineTable(view, data) {
  const columns = ["direction", "kind", "from", "to", "writes", "carry", "column total", "share of variance"];
  const name = (/** @type {number} */ token) => view.payload.tokens[token].label;
  const rows = data.lines.flatMap((line) => [
    [line.index, "current", line.now, line.now, name(data.digit.token), data.digit.carry, null, line.share],
    ...line.bands.map(({ from, to, winner }) => [
      line.index,
      "band",
      from,
      to,
      name(winner),
      null,
      null,
      line.share,
    ]),
    ...Array.from(line.x, (x, i) => [
      line.index,
      "test sum",
      x,
      x,
      name(data.sums.right[i]),
      data.sums.carry[i],
      data.sums.total[i],
      line.share,
    ]),
  ]);
  return {
    columns,
    rows: rows.map((row) => row.map((each) => (typeof each === "number" ? Number(full(each)) : each))),
  };
}
