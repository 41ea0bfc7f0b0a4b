// The page of an adder: two numbers are read, and the digits of their sum written one after the other.

import { columnOf, digitAt, largest, rightAnswer, sumAnswer } from "../judge.js";
import { short } from "../numbers.js";
import { adderFields, adderGlance } from "../panels/input_adder.js";
import { runOn } from "../pass.js";
import { quoted } from "../prose.js";
import { sumJudge } from "../testset.js";
import { rightWord } from "./strings.js";

/** @typedef {import("../types.js").Payload} Payload */
/** @typedef {import("../types.js").AdderTask} AdderTask */
/** @typedef {import("../types.js").Tensor} Tensor */
/** @typedef {import("../types.js").AdderView} View */
/** @typedef {Object<string, Tensor>} Params */

/** @type {import("../types.js").Family} */
export const additionFamily = {
  first: ["digits", "numberline", "prediction", "attention"],
  narrow: ["prediction"],
  afterWords: "each position",
  rowWords: "each position that writes a digit",
  rowChoices: ["positions that write", "all positions"],
  openWords: "no digit of the answer is written",
  noMargin: "none: this position writes no digit",
  read: readSum,
  run: writeSum,
  judge: sumJudge,
  fields: adderFields,
  glance: adderGlance,
  answer(view) {
    const labels = view.payload.tokens.map((token) => token.label);
    const { prompt, written } = view.reading;
    return sumAnswer(adderTask(view.payload), labels, prompt, written, view.logits);
  },
  cursor: hardestPlace,
  labels: digitLabels,
  verdict: digitVerdict,
  placeName: (payload, place) => adderTask(payload).positions[place],
  writingPlaces: digitPlaces,
  toldPlaces: digitPlaces,
  title: addsWords,
  exampleWords: spacedSum,
  wrongWords: (example) => `${spacedSum(example)} gives ${example.got}, not ${example.expected}`,
  hasCertificate: () => true,
  panelOf(name) {
    if (/(^|\.)(logits|final)$/.test(name)) return "digits";
    return /(mid|attn\.output)$/.test(name) ? "numberline" : "geometry";
  },
  /** @param {View} view */
  changeWords(view) {
    const { a, b, got, right } = view.answer;
    const margin = short(digitVerdict(view, view.place).margin ?? NaN);
    return [`${a} + ${b} = ${got}, `, rightWord(right), `; margin ${margin} at the cursor`];
  },
};

/** @param {Payload} payload */
function adderTask(payload) {
  return /** @type {AdderTask} */ (payload.task);
}

/**
 * Whether it takes numbers of every length; a page is drawn for one, and shorter numbers have 0s before them.
 * @param {Payload} payload
 */
function isAnyLength(payload) {
  return adderTask(payload).any_length && payload.model.any_length;
}

/** @param {Payload} payload */
function addsWords(payload) {
  const { about, digits } = adderTask(payload);
  if (!isAnyLength(payload)) return `Adds ${about}.`;
  return `Adds two numbers of any length; this page is for up to ${digits} digits.`;
}

/** "57 + 68". @param {import("../types.js").Example} example */
function spacedSum(example) {
  return example.input.replace("+", " + ");
}

/** The positions that write a digit. @param {View} view @returns {number[]} */
function digitPlaces(view) {
  return view.answer.digits.map((digit) => digit.place);
}

/** @param {View} view */
function hardestPlace(view) {
  return view.answer.digits.reduce((worst, digit) => (digit.margin < worst.margin ? digit : worst)).place;
}

/** The label at each position; a mark is itself, whatever token it shares. @param {View} view */
function digitLabels(view) {
  const { tokens } = view.payload;
  const task = adderTask(view.payload);
  const isMark = (/** @type {number} */ place) =>
    place < view.reading.prompt.length && task.prompt[place] >= 0;
  return view.tokens.map((token, place) => (isMark(place) ? task.positions[place] : tokens[token].label));
}

/**
 * Nothing is demanded where no digit is written.
 * @param {View} view @param {number} place @returns {import("../types.js").Verdict}
 */
function digitVerdict(view, place) {
  const digit = view.answer.digits.find((one) => one.place === place);
  if (!digit)
    return { allowed: null, winner: largest(columnOf(view.logits, place)), right: null, margin: null };
  return {
    allowed: [digit.wanted],
    winner: digit.token,
    right: digit.token === digit.wanted,
    margin: digit.margin,
  };
}

/**
 * What an adder writes, each digit fed back. The right answer is tried first: where the model agrees, one
 * pass is enough, because no position attends ahead; each disagreement takes one more.
 * @param {Payload} payload @param {Params} params @param {number[]} prompt
 */
function writeSum(payload, params, prompt) {
  const guess = rightAnswer(adderTask(payload), prompt);
  for (let passes = 0; ; passes++) {
    const tokens = [...prompt, ...guess.slice(0, -1)];
    const run = runOn(payload, params, tokens);
    const logits = run("logits");
    const wrong = guess.findIndex(
      (token, step) => largest(columnOf(logits, prompt.length - 1 + step)) !== token,
    );
    if (wrong < 0 || passes === guess.length) return { tokens, run, written: guess }; // NaN may never agree
    guess[wrong] = largest(columnOf(logits, prompt.length - 1 + wrong));
  }
}

/**
 * "57+68" or "57 68": the tokens of the problem, without its answer.
 * @param {Payload} payload @param {string} text @returns {import("../types.js").InputRead}
 */
function readSum(payload, text) {
  const task = adderTask(payload);
  const found = /^\s*(\d+)(?:\s*\+\s*|\s*,\s*|\s+)(\d+)\s*=?\s*$/.exec(text);
  const isTen = task.base === 10;
  const most = BigInt(task.base) ** BigInt(task.digits) - 1n;
  const valid = isTen
    ? `type two whole numbers of up to ${task.digits} digits, such as 57+68`
    : `type two whole numbers of up to ${most}, in base ten, such as ${payload.start.input}`;
  if (!found) return { error: `${noSumWords(text)}: ${valid}.` };
  const numbers = [found[1], found[2]].map((digits) => digits.replace(/^0+(?=\d)/, ""));
  const long = numbers.find((digits) => digits.length > String(most).length || BigInt(digits) > most);
  if (long !== undefined) {
    const why = isTen ? `has more than ${task.digits} digits` : `is above ${most}`;
    const more = isAnyLength(payload) ? `, or make a page for longer ones: ${pageCommand(payload, found)}` : "";
    return { error: `${quoted(long)} ${why}: ${valid}${more}.` };
  }
  const [a, b] = numbers.map(BigInt);
  return { tokens: promptOf(task, a, b), input: `${a}+${b}` };
}

/** The command that makes a page for these numbers. @param {Payload} payload @param {RegExpExecArray} found */
function pageCommand(payload, found) {
  const longest = Math.max(found[1].length, found[2].length);
  return `glassformer page ${payload.target} --digits ${longest}`;
}

/** Why a text is not a sum: the part that is not a number, where there are two. @param {string} text */
function noSumWords(text) {
  const parts = text.split("+").map((part) => part.trim());
  const strange = parts.find((part) => !/^\d+$/.test(part));
  if (parts.length !== 2 || strange === undefined) return `${quoted(text.trim())} is not a sum`;
  return strange === "" ? "A number is missing" : `${quoted(strange)} is not a whole number`;
}

/** @param {AdderTask} task @param {bigint} a @param {bigint} b */
function promptOf(task, a, b) {
  const tokens = [...task.prompt];
  task.x.forEach((place, k) => (tokens[place] = digitAt(task, a, k)));
  task.y.forEach((place, k) => (tokens[place] = digitAt(task, b, k)));
  return tokens;
}
