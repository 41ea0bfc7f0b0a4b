// A page by family of tasks: `familyOf(payload)` has all that differs between them.

import { additionFamily } from "./addition.js";
import { questionFamily } from "./question.js";
import { ruleFamily } from "./rule.js";

/** @typedef {import("../types.js").Family} Family */
/** @typedef {import("../types.js").Panel<any>} Panel */

/** @satisfies {Object<string, Family>} */
const FAMILIES = { rule: ruleFamily, question: questionFamily, addition: additionFamily };
/** @typedef {keyof typeof FAMILIES} FamilyName */

/** @param {{family: string}} payload @returns {Family} */
export function familyOf(payload) {
  return FAMILIES[/** @type {FamilyName} */ (payload.family)];
}

/**
 * The panels of a page: those for its family, with the family's first ones before the others.
 * @param {{family: string}} payload @param {Panel[]} panels @returns {Panel[]}
 */
export function panelsOf(payload, panels) {
  const { first, narrow } = familyOf(payload);
  checkPanels(panels);
  const shown = panels.filter(({ families }) => families?.some((name) => name === payload.family) ?? true);
  const byName = new Map(shown.map((panel) => [panel.id, panel]));
  const early = first.map((id) => panelCalled(id, byName, payload.family));
  narrow.forEach((id) => panelCalled(id, byName, payload.family));
  const ordered = new Set([...early, ...shown]);
  return [...ordered].map((panel) => (narrow.includes(panel.id) ? { ...panel, wide: false } : panel));
}

/** Each panel has an id of its own and families that exist. @param {Panel[]} panels */
function checkPanels(panels) {
  const ids = panels.map((panel) => panel.id);
  const twice = ids.find((id, place) => ids.indexOf(id) !== place);
  if (twice !== undefined) throw new Error(`two panels of main.js have the id '${twice}'`);
  for (const { id, families } of panels) {
    const unknown = families?.find((name) => !Object.hasOwn(FAMILIES, name));
    if (unknown === undefined) continue;
    const valid = Object.keys(FAMILIES).join(", ");
    throw new Error(`the panel '${id}' is for the family '${unknown}'; there are ${valid}`);
  }
}

/** @param {string} id @param {Map<string, Panel>} panels @param {string} family */
function panelCalled(id, panels, family) {
  const found = panels.get(id);
  if (found) return found;
  const valid = [...panels.keys()].join(", ");
  throw new Error(`the family '${family}' names a panel '${id}'; its page has ${valid}`);
}
