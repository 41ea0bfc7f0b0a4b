// The input of a question: a field for the whole prompt, a list of tokens per position, and the answer.

import { h } from "../dom.js";
import { percent } from "../numbers.js";
import { columnOf } from "../judge.js";

/** @typedef {import("../types.js").QuestionView} View */
/** @typedef {import("../types.js").QuestionView["payload"]} Payload */
/** @typedef {import("../types.js").Token} Token */

const MOST_CHOICES = 8; // positions up to which each has a list of its own

/** @param {() => View} viewOf @param {(text: string) => void} offer @returns {import("./input.js").Fields} */
export function questionFields(viewOf, offer) {
  const { payload } = viewOf();
  const field = promptField(payload.task.slots.length);
  const choices = slotChoices(payload, (place, token) => {
    const tokens = [...viewOf().tokens];
    tokens[place] = token;
    put(tokens.map((one) => payload.tokens[one].label));
  });
  /** @param {string[]} labels */
  function put(labels) {
    field.value = labels.join(" ");
    typed();
  }
  function typed() {
    offer(field.value);
    showChoices(choices, viewOf());
  }
  field.addEventListener("input", typed);
  field.addEventListener("keydown", (event) => event.key === "Enter" && typed());
  const random = () => put(randomPrompt(payload));
  const root = h(
    "div",
    { class: "input-rule" },
    field,
    h(
      "div",
      { class: "tokens", role: "group", "aria-label": "Tokens of the prompt" },
      choices.map((one) => one.node),
      h("button", { type: "button", id: "random-input", onclick: random }, "Random"),
    ),
  );
  const show = (/** @type {View} */ view) => {
    field.value = view.state.input;
    showChoices(choices, view);
  };
  return { root, inputs: [field], text: () => field.value, show };
}

/** @param {number} places @returns {HTMLInputElement} */
function promptField(places) {
  return h("input", {
    type: "text",
    id: "input-text",
    class: "field",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "Prompt",
    "aria-describedby": "input-error",
    title: `${places} tokens, separated by spaces`,
  });
}

/** @typedef {{node: HTMLElement, paint: (token: Token, number: number) => void}} SlotChoice */

/**
 * A list of the tokens allowed at each position; a position without a choice shows its mark.
 * @param {Payload} payload @param {(place: number, token: number) => void} choose @returns {SlotChoice[]}
 */
function slotChoices(payload, choose) {
  const { slots } = payload.task;
  if (slots.length > MOST_CHOICES) return [];
  return slots.map((/** @type {number[]} */ slot, /** @type {number} */ place) =>
    slot.length > 1 ? slotList(payload, slot, place, choose) : slotMark(payload.tokens[slot[0]]),
  );
}

/** @param {Token} token @returns {SlotChoice} */
function slotMark(token) {
  const style = `background:${token.colour};color:${token.ink}`;
  return { node: h("span", { class: "token", style }, token.label), paint: () => undefined };
}

/**
 * @param {Payload} payload @param {number[]} slot @param {number} place
 * @param {(place: number, token: number) => void} choose @returns {SlotChoice}
 */
function slotList(payload, slot, place, choose) {
  const options = slot.map((token) => h("option", { value: token }, payload.tokens[token].label));
  const title = `Token at position ${place}`;
  const list = h("select", { class: "token slot", title, "aria-label": title, "data-place": place }, options);
  list.addEventListener("change", () => choose(place, Number(list.value)));
  const paint = (/** @type {Token} */ token, /** @type {number} */ number) => {
    list.value = String(number);
    list.style.background = token.colour;
    list.style.color = token.ink;
  };
  return { node: list, paint };
}

/** @param {SlotChoice[]} choices @param {View} view */
function showChoices(choices, view) {
  choices.forEach(({ paint }, place) => paint(view.payload.tokens[view.tokens[place]], view.tokens[place]));
}

/** One of all prompts, each equally likely. @param {Payload} payload @returns {string[]} */
function randomPrompt(payload) {
  return payload.task.slots.map(
    (/** @type {number[]} */ slot) =>
      payload.tokens[slot[Math.floor(Math.random() * slot.length)]].label,
  );
}

/** The answer with its probability, and whether it is right. @param {View} view */
export function questionGlance(view) {
  const last = view.tokens.length - 1;
  const found = view.answers[last];
  const { label, colour, ink } = view.payload.tokens[found.winner];
  return [
    h("span", { class: "leads", "aria-hidden": "true" }, "→"),
    h(
      "span",
      { class: "token next", style: `background:${colour};color:${ink}`, "aria-label": `Answer ${label}` },
      label,
    ),
    h(
      "span",
      { class: "answer-words" },
      percent(columnOf(view.probabilities, last)[found.winner]),
      " ",
      answerVerdict(view, found),
    ),
  ];
}

/** @param {View} view @param {import("../judge.js").RuleAnswer} found */
function answerVerdict(view, found) {
  const more = h("span", { class: "more" }, ` · ${view.marginWords(found.margin)}`);
  if (found.right === null) return h("span", { class: "muted" }, "not judged", more);
  if (found.right) return h("span", { class: "good" }, "✓ right", more);
  const { demand } = view.payload.task.words;
  const wanted = view.payload.tokens[found.allowed[0]].label;
  const why = found.winner === found.allowed[0] ? "another token is as likely" : `${demand} ${wanted}`;
  return h("span", { class: "bad" }, `✗ wrong: ${why}`, more);
}
