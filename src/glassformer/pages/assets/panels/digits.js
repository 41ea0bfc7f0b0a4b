// The digit table of an adder: the sum in columns, and the attention of the digit under the cursor.

import { svgRoot } from "../chart.js";
import { h, refill, s } from "../dom.js";
import { label } from "../marks.js";
import { full, raised, short } from "../numbers.js";
import { textWidth } from "../ticks.js";
import { arcHeads, arcStrip, arcWeights } from "./digits_arcs.js";
import { digitsByColumn, digitTable, digitTableSize } from "./digits_table.js";

/** @typedef {import("../types.js").AdderView} View */
/** @typedef {import("../judge.js").Digit} Digit */

const DIGIT_STRIPS = 4; // heads that are drawn one under the other; of more, one is chosen

/**
 * What stays while the picture is drawn anew: the focus is on it.
 * @type {{node: HTMLElement, view: View}|null}
 */
let digitStage = null;
/**
 * @type {WeakMap<object, {before: HTMLButtonElement, after: HTMLButtonElement, heads: HTMLSelectElement|null}>}
 */
const digitTools = new WeakMap();

/** @type {import("../types.js").Panel<View>} */
export const digitsPanel = {
  id: "digits",
  families: ["addition"],
  title: "Digit by digit",
  wide: true,
  about: (view) => {
    const { a, b, got, expected, right } = view.answer;
    const verdict = right ? "which is right" : `but ${expected} is right`;
    return (
      `${a} + ${b}: the model writes ${got}, ${verdict}. ` +
      "Click a column to see the position that writes its digit and what it attends to."
    );
  },
  draw(view, width) {
    const stage = (digitStage ??= { node: digitStageNode(), view });
    stage.view = view;
    const shown = digitHeads(view);
    const { node, left } = digitPicture(view, width, shown);
    refill(stage.node, node);
    stage.node.setAttribute("aria-label", digitsAlt(view));
    return {
      node: stage.node,
      alt: digitsAlt(view),
      table: digitsData(view),
      note: digitsNote(view, left),
      controls: digitControls(view),
    };
  },
};

/** It takes the arrow keys. */
function digitStageNode() {
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const move = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey || !digitStage) return;
    event.preventDefault();
    const now = digitStage.view.now;
    const byColumn = digitsByColumn(now);
    const here = byColumn.findIndex((each) => each.place === now.place);
    now.change({
      place: byColumn[Math.min(Math.max(here + move, 0), byColumn.length - 1)].place,
    });
  };
  return h("div", { class: "digits-stage", tabindex: 0, role: "group", "data-key": "digits", onkeydown });
}

/** The heads whose arcs are drawn. @param {View} view */
function digitHeads(view) {
  const all = arcHeads(view);
  if (all.length <= DIGIT_STRIPS) return all;
  const { layer, head } = view.state;
  return [all.find((each) => each.layer === layer && each.head === head) ?? all[0]];
}

/** @param {View} view @param {number} width @param {ReturnType<typeof arcHeads>} heads */
function digitPicture(view, width, heads) {
  const choose = (/** @type {number} */ place) => view.change({ place });
  const size = digitTableSize(view, width);
  const beside = width - size.width > 320;
  const reading = digitReading(view, beside ? width - size.width - 36 : width);
  let top = (beside ? size.height : size.height + reading.height + 10) + 16;
  const parts = [
    digitTable(view, width, choose),
    s(
      "g",
      { transform: beside ? `translate(${size.width + 36} 14)` : `translate(0 ${size.height + 8})` },
      reading.node,
    ),
  ];
  let left = 0;
  for (const head of heads) {
    const strip = arcStrip(view, head, width, choose);
    parts.push(s("g", { transform: `translate(0 ${top})` }, strip.node));
    top += strip.height + 10;
    left += strip.left;
  }
  return { node: svgRoot(width, top, view.colours, parts), left };
}

/** The chosen digit in words and numbers. @param {View} view @param {number} width */
function digitReading(view, width) {
  const { colours } = view;
  const facts = digitFacts(view);
  const node = s("g", { class: "digit-reading" });
  let [x, y] = [0, 0];
  for (const [name, value, colour] of facts) {
    const room = Math.max(textWidth(value, 17), textWidth(name, 12)) + 32;
    if (x > 0 && x + room - 20 > width) [x, y] = [0, y + 52];
    node.append(
      label(x, y + 8, name, { colour: colours.muted, halo: null }),
      label(x, y + 29, value, { colour: colour ?? colours.ink, halo: null, size: 17, weight: 600 }),
    );
    x += room;
  }
  return { node, height: y + 44 };
}

/** @param {View} view @returns {Array<[string, string, string?]>} */
function digitFacts(view) {
  const { answer, payload, colours, place } = view;
  const digit = answer.digits.find((each) => each.place === place);
  if (!digit) return [["the cursor", `is at position ${place}, which writes no digit`]];
  const name = (/** @type {number} */ token) => payload.tokens[token].label;
  const wrong = digit.token !== digit.wanted;
  const column = digit.column < payload.task.digits ? digitPair(view, digit).join(" + ") : "no digits";
  return [
    ["column", digitWorth(digit.column, payload.task.base)],
    ["its digits", column],
    ["carry into it", String(digit.carry)],
    [
      "written",
      wrong ? `✗ ${name(digit.token)}, not ${name(digit.wanted)}` : `${name(digit.token)}, right`,
      wrong ? colours.bad : colours.good,
    ],
    ["margin in logits", short(digit.margin), digit.margin > 0 ? colours.ink : colours.bad],
    ["written at step", `${digit.step + 1} of ${answer.digits.length}, at position ${digit.place}`],
  ];
}

/** The digits of a column, by what the model reads. @param {View} view @param {Digit} digit */
function digitPair(view, digit) {
  const { x, y } = view.payload.task;
  return [x, y].map((places) => view.payload.tokens[view.tokens[places[digit.column]]].label);
}

/** @param {number} column @param {number} base */
function digitWorth(column, base) {
  const names = base === 10 ? ["units", "tens", "hundreds", "thousands"] : ["units"];
  return names[column] ?? `${base}${raised(column)}`;
}

/** Buttons in the order of writing, and the choice of a head where there are many. @param {View} view */
function digitControls(view) {
  const { payload } = view;
  const tools = digitTools.get(payload) ?? digitToolsOf(view);
  digitTools.set(payload, tools);
  const { digits } = view.answer;
  const here = digits.findIndex((each) => each.place === view.place);
  tools.before.disabled = here === 0;
  tools.after.disabled = here === digits.length - 1;
  if (tools.heads) tools.heads.value = `${digitHeads(view)[0].layer},${digitHeads(view)[0].head}`;
  return tools.heads
    ? [tools.before, tools.after, /** @type {Element} */ (tools.heads.parentElement)]
    : [tools.before, tools.after];
}

/** @param {View} view */
function digitToolsOf(view) {
  const move = (/** @type {number} */ by) => () => {
    const now = (digitStage?.view ?? view).now;
    const here = now.answer.digits.findIndex((each) => each.place === now.place);
    const next = now.answer.digits[Math.min(Math.max(here + by, 0), now.answer.digits.length - 1)];
    now.change({ place: next.place });
  };
  const before = h("button", { type: "button", class: "tool", onclick: move(-1) }, "‹ previous digit");
  const after = h("button", { type: "button", class: "tool", onclick: move(1) }, "next digit ›");
  const heads = arcHeads(view).length > DIGIT_STRIPS ? digitHeadChoice(view) : null;
  return { before, after, heads };
}

/** @param {View} view */
function digitHeadChoice(view) {
  const onchange = () => {
    const [layer, head] = select.value.split(",").map(Number);
    (digitStage?.view ?? view).change({ layer, head });
  };
  const options = arcHeads(view).map(({ layer, head, name }) =>
    h("option", { value: `${layer},${head}` }, name),
  );
  const select = h("select", { onchange, "data-key": "digits-head" }, options);
  h("label", { class: "choice" }, "arcs of ", select);
  return select;
}

/** @param {View} view @param {number} left */
function digitsNote(view, left) {
  const order = view.answer.digits[0].column === 0 ? "units first" : "highest digit first";
  const room = left ? ` ${left} weights have no room for their number; the saved data has them.` : "";
  return (
    `The model writes ${order} and reads each digit back for the next one. ` +
    "An arc's thickness is its attention weight; weights above 0.01 are written below. " +
    `The margin is the logit of the right digit minus the best other one.${room}`
  );
}

/** @param {View} view */
function digitsAlt(view) {
  const { a, b, got, expected, right, digits } = view.answer;
  const facts = digitFacts(view)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
  const looks = digitHeads(view).map((head) => {
    const weights = arcWeights(view, head);
    const best = [...weights.keys()]
      .sort((one, two) => weights[two] - weights[one])
      .slice(0, 4)
      .filter((place) => weights[place] > 0.01);
    const seen = best.map((place) => `${view.payload.task.positions[place]} (${short(weights[place], 3)})`);
    return `${head.name} attends to ${seen.join(", ") || "nothing"}`;
  });
  return (
    `${a} + ${b}: writes ${got}, ${right ? "right" : `wrong, ${expected} is right`}, ` +
    `${digits.length} digits. Cursor: ${facts}. ${looks.join("; ")}.`
  );
}

/** @param {View} view */
function digitsData(view) {
  const name = (/** @type {number} */ token) => view.payload.tokens[token].label;
  const columns = [
    "kind",
    "place",
    "position",
    "column",
    "token",
    "right",
    "carry",
    "margin",
    "head",
    "weight",
  ];
  const position = (/** @type {number} */ place) => view.payload.task.positions[place];
  const written = view.answer.digits.map((each) => [
    "digit",
    each.place,
    position(each.place),
    each.column,
    name(each.token),
    name(each.wanted),
    each.carry,
    Number(full(each.margin)),
    null,
    null,
  ]);
  const read = view.tokens.map((/** @type {number} */ token, /** @type {number} */ place) => [
    "token",
    place,
    position(place),
    null,
    name(token),
    null,
    null,
    null,
    null,
    null,
  ]);
  const looked = digitHeads(view).flatMap((head) =>
    Array.from(arcWeights(view, head), (weight, place) => [
      "weight",
      place,
      position(place),
      null,
      name(view.tokens[place]),
      null,
      null,
      null,
      head.name,
      weight,
    ]),
  );
  return { columns, rows: [...written, ...read, ...looked] };
}
