// The number line in words and as a table: what it shows, for those who do not see it.

import { full, percent, short } from "../numbers.js";

/** @typedef {import("./numberline_data.js").LineData} LineData */

/** No long row of nines. @param {number} share */
export function shareWords(share) {
  return share > 0.999 && share < 1 ? "over 99.9%" : percent(share);
}

/** @param {any} view @param {LineData} data */
export function lineNote(view, data) {
  const { digit, source, sums, lines } = data;
  const [line] = lines;
  const parts = [
    `On the axis: ${source.what} at the place that writes column ${digit.column}, ` +
      `along the direction in which ${sums.right.length} test sums differ most ` +
      `(${shareWords(line.share)} of the variance).`,
    "The bands move the current state along that direction through the rest of the model; " +
      "they hold for the outlined dots too, as far as those differ from it along this line only.",
  ];
  if (line.carryMove !== null)
    parts.push(
      `A carry moves the state by ${short(line.carryMove)}` +
        `${line.digitMove === null ? "" : `, one more in the column by ${short(line.digitMove)}`} ` +
        "(least squares, the token that asks being the same).",
    );
  const border =
    line.nearest === null
      ? "No border is in sight"
      : `The nearest border is ${short(Math.abs(line.nearest - line.now))} away on the line`;
  parts.push(`Margin of the right digit: ${short(digit.margin)} in logits. ${border}.`);
  if (line.outside)
    parts.push(
      `${line.outside} sums lie outside the stretch that is drawn, cut so that the current band can be seen.`,
    );
  return parts.join(" ");
}

/** @param {any} view @param {LineData} data */
export function lineAlt(view, data) {
  const [line] = data.lines;
  const labels = line.bands.map(({ winner }) => view.payload.tokens[winner].label).join(", ");
  const near = line.nearest === null ? "no border" : `the nearest border at ${short(line.nearest)}`;
  return (
    `Number line of column ${data.digit.column} of ${view.answer.a} + ${view.answer.b}: ` +
    `the state stands at ${short(line.now)} and writes ` +
    `${view.payload.tokens[data.digit.token].label}, with ${near}. ` +
    `From left to right the bands write ${labels}.`
  );
}

/** @param {any} view @param {LineData} data */
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
