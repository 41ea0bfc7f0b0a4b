// The page of a rule: a context of any length up to the window, and the token that the model would write next.

import { ruleFields, ruleGlance } from "../panels/input_rule.js";
import { quoted } from "../prose.js";
import { splitWords, stringsFamily } from "./strings.js";

/** @type {import("../types.js").Family} */
export const ruleFamily = {
  ...stringsFamily,
  read: readRule,
  fields: ruleFields,
  glance: ruleGlance,
  openWords: "the rule demands nothing",
  writingPlaces: (view) => view.tokens.map((_, place) => place),
  wrongWords: (example, isTied) =>
    isTied
      ? `after ${example.input} a token that is not allowed is as likely as ${example.got}`
      : `after ${example.input} it writes ${example.got}, not ${example.expected}`,
};

/**
 * "4 7 +" or "4,7,+".
 * @param {import("../types.js").Payload} payload @param {string} text
 * @returns {import("../types.js").InputRead}
 */
function readRule(payload, text) {
  const labels = payload.tokens.map((token) => token.label);
  const words = splitWords(text, labels.includes("+") ? ["+"] : []);
  const most = payload.model.context;
  const valid = `type 1 to ${most} of the tokens ${labels.join(" ")}, separated by spaces`;
  const strange = words.find((word) => !labels.includes(word));
  if (strange !== undefined) return { error: `${quoted(strange)} is not a token: ${valid}.` };
  if (words.length === 0) return { error: `The input is empty: ${valid}.` };
  if (words.length > most)
    return { error: `${words.length} tokens do not fit into the context of ${most}: ${valid}.` };
  return { tokens: words.map((word) => labels.indexOf(word)), input: words.join(" ") };
}
