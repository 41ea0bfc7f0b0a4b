// Tooltips by mouse, focus and touch: one at a time, never outside the window; Escape closes.
//
//   tip(circle, () => [h("strong", {}, "seed 3"), h("div", {}, `loss ${short(loss)}`)]);

import { h, refill } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/** @type {WeakMap<Element, () => Child[]>} */
const tipContents = new WeakMap();
const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";
const TIP_GAP = 10;
const TIP_SMALL = 140; // a mark up to this size holds its tooltip above it; a larger one lets it follow

/** @type {{bubble: HTMLElement, owner: Element|null, point: {x: number, y: number}|null}|null} */
let tips = null;

/**
 * Gives an element a tooltip and, where it has none, a tab stop. `content` runs when it opens.
 * @template {Element} E
 * @param {E} element @param {() => Child[]} content @returns {E}
 */
export function tip(element, content) {
  tipContents.set(element, content);
  if (!element.matches(FOCUSABLE)) element.setAttribute("tabindex", "0");
  tips ??= listenForTips();
  return element;
}

/** Closes the tooltip, or only one whose mark is gone from the page. @param {boolean} [onlyOrphans] */
export function closeTip(onlyOrphans = false) {
  if (!tips?.owner || (onlyOrphans && tips.owner.isConnected)) return;
  tips.owner.removeAttribute("aria-describedby");
  tips.owner = null;
  tips.bubble.hidden = true;
}

/** One set of listeners serves every mark of the page. */
function listenForTips() {
  const bubble = h("div", { id: "tip", class: "tip", role: "tooltip", hidden: true });
  document.body.append(bubble);
  document.addEventListener(
    "pointerover",
    (event) => event.pointerType !== "touch" && openTip(event.target, event),
  );
  document.addEventListener("pointermove", (event) => event.pointerType !== "touch" && followTip(event));
  document.addEventListener("pointerout", (event) => event.pointerType !== "touch" && leaveTip(event));
  document.addEventListener(
    "pointerdown",
    (event) => event.pointerType === "touch" && (openTip(event.target, event) || closeTip()),
  );
  document.addEventListener("focusin", (event) => openTip(event.target, null) || closeTip());
  document.addEventListener("focusout", () => closeTip());
  document.addEventListener("keydown", escapeTip, true);
  window.addEventListener("scroll", () => placeTip(), { capture: true, passive: true });
  return { bubble: /** @type {HTMLElement} */ (bubble), owner: null, point: null };
}

/** @param {EventTarget|null} target @returns {Element|null} */
function tipOwner(target) {
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement) {
    if (tipContents.has(element)) return element;
  }
  return null;
}

/** @param {EventTarget|null} target @param {PointerEvent|null} pointer */
function openTip(target, pointer) {
  const owner = tipOwner(target);
  if (!owner || !tips) return false;
  if (tips.owner !== owner) closeTip();
  tips.owner = owner;
  tips.point = pointer ? { x: pointer.clientX, y: pointer.clientY } : null;
  refill(tips.bubble, tipContents.get(owner)?.() ?? []);
  if (!tips.bubble.childNodes.length) return closeTip() ?? true;
  tips.bubble.hidden = false;
  owner.setAttribute("aria-describedby", "tip");
  placeTip();
  return true;
}

/** @param {PointerEvent} event */
function followTip(event) {
  if (!tips?.owner || !tips.point || !tips.owner.contains(/** @type {Node} */ (event.target))) return;
  tips.point = { x: event.clientX, y: event.clientY };
  placeTip();
}

/** @param {PointerEvent} event */
function leaveTip(event) {
  if (!tips?.owner || tips.owner.contains(/** @type {Node|null} */ (event.relatedTarget))) return;
  if (tips.point) closeTip();
}

/** The first Escape closes the tooltip and does nothing else. @param {KeyboardEvent} event */
function escapeTip(event) {
  if (event.key !== "Escape" || !tips?.owner) return;
  closeTip();
  event.stopImmediatePropagation();
}

/** Above the mark, below it where there is no room, and always inside the window. */
function placeTip() {
  if (!tips?.owner) return;
  const mark = tips.owner.getBoundingClientRect();
  const large = tips.point && Math.max(mark.width, mark.height) > TIP_SMALL;
  const at = large && tips.point ? new DOMRect(tips.point.x, tips.point.y, 0, 0) : mark;
  const { width, height } = tips.bubble.getBoundingClientRect();
  const [wide, high] = [document.documentElement.clientWidth, window.innerHeight];
  const above = at.top - height - TIP_GAP;
  const top = above >= 4 ? above : Math.min(at.bottom + TIP_GAP, high - height - 4);
  const left = Math.max(4, Math.min(at.left + at.width / 2 - width / 2, wide - width - 4));
  tips.bubble.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(4, top))}px)`;
}
