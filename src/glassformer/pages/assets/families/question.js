// The page of a question: a whole prompt is read, and the token after its last position answers it.

import { questionFields, questionGlance } from "../panels/input_question.js";
import { quoted } from "../prose.js";
import { splitWords, stringsFamily } from "./strings.js";

/** @typedef {import("../types.js").Payload} Payload */
/** @typedef {import("../types.js").QuestionTask} QuestionTask */

/** @type {import("../types.js").Family} */
export const questionFamily = {
  ...stringsFamily,
  read: readPrompt,
  fields: questionFields,
  glance: questionGlance,
  afterWords: "the prompt",
  openWords: "no answer is asked for",
  writingPlaces: (view) => [view.tokens.length - 1],
  wrongWords: (example, isTied) =>
    isTied
      ? `on ${example.input} another token is as likely as ${example.got}`
      : `${example.input} gives ${example.got}, not ${example.expected}`,
};

/**
 * "3 7 5 2", or "100 20 =", whose mark may be left out.
 * @param {Payload} payload @param {string} text @returns {import("../types.js").InputRead}
 */
function readPrompt(payload, text) {
  const labels = payload.tokens.map((token) => token.label);
  const { slots } = /** @type {QuestionTask} */ (payload.task);
  const typed = splitWords(
    text,
    labels.filter((label) => /^[^\w\s]$/.test(label)),
  );
  const valid = promptWords(slots, labels);
  const strange = typed.find((word) => !labels.includes(word));
  if (strange !== undefined) return { error: `${quoted(strange)} is not a token: ${valid}.` };
  const words = withMarks(typed, slots, labels);
  if (words.length !== slots.length) return { error: `${countWords(typed.length)}: ${valid}.` };
  const tokens = words.map((word) => labels.indexOf(word));
  const wrong = tokens.findIndex((token, place) => !slots[place].includes(token));
  if (wrong >= 0) return { error: `${quoted(words[wrong])} cannot be token ${wrong + 1}: ${valid}.` };
  return { tokens, input: words.join(" ") };
}

/** @param {number} count */
function countWords(count) {
  if (count === 0) return "The input is empty";
  return count === 1 ? "One token is not a prompt" : `${count} tokens are not a prompt`;
}

/**
 * The words with the tokens that every prompt has, where only these were left out.
 * @param {string[]} words @param {number[][]} slots @param {string[]} labels
 */
function withMarks(words, slots, labels) {
  const free = slots.filter((slot) => slot.length > 1);
  if (words.length !== free.length) return words;
  const left = [...words];
  return slots.map((slot) =>
    slot.length > 1 ? /** @type {string} */ (left.shift()) : labels[slot[0]],
  );
}

/**
 * "type 2 of 0 to 112, then =, separated by spaces".
 * @param {number[][]} slots @param {string[]} labels
 */
function promptWords(slots, labels) {
  /** @type {Array<{words: string, count: number}>} */
  const parts = [];
  for (const slot of slots) {
    const words = choiceWords(slot.map((token) => labels[token]));
    const last = parts[parts.length - 1];
    if (last?.words === words) last.count++;
    else parts.push({ words, count: 1 });
  }
  const told = parts.map(({ words, count }) => (count > 1 ? `${count} of ${words}` : words));
  return `type ${told.join(", then ")}, separated by spaces`;
}

/** "0 to 112"; or all of them. @param {string[]} labels */
function choiceWords(labels) {
  const isRange = labels.length > 2 && labels.every((label, i) => label === String(Number(labels[0]) + i));
  return isRange ? `${labels[0]} to ${labels[labels.length - 1]}` : labels.join(" or ");
}
