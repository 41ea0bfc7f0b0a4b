// The keyboard shortcuts of the page and their list. A text field keeps its own keys.

import { h } from "./dom.js";
import { moveChapter, leaveStory } from "./panels/story.js";

/** @typedef {import("./view.js").View} View */

const KEY_LIST = [
  ["Space", "next chapter of the story"],
  ["Shift + Space", "previous chapter of the story"],
  ["Escape", "leave the story"],
  ["← →", "previous or next: checkpoint on the slider, digit on the digit table"],
  ["Home, End", "on the slider: first checkpoint, final model"],
  ["P", "play or pause the training"],
  ["Tab", "to the next control"],
  ["?", "this list"],
];

/** @param {() => View} viewOf */
export function mountKeys(viewOf) {
  const dialog = keysDialog();
  document.body.append(dialog);
  const open = () => void (dialog.open || dialog.showModal());
  document.addEventListener("glassformer-keys", open);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (isTyping(event.target)) return;
    if (pressedKey(event, viewOf, open)) event.preventDefault();
  });
}

/**
 * True where the key was one of the page's.
 * @param {KeyboardEvent} event @param {() => View} viewOf @param {() => void} open
 */
function pressedKey(event, viewOf, open) {
  if (event.key === "?") open();
  else if (event.key === " " && !isPressable(event.target))
    return moveChapter(viewOf(), event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") return leaveStory(viewOf());
  else if (event.key.toLowerCase() === "p") return clickById("play");
  else return false;
  return true;
}

/** @param {string} id */
function clickById(id) {
  const button = /** @type {HTMLButtonElement|null} */ (document.getElementById(id));
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

/** A field that takes letters. @param {EventTarget|null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  const isField = target instanceof HTMLInputElement && !["range", "checkbox", "radio"].includes(target.type);
  return isField || target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Space works on it already. @param {EventTarget|null} target */
function isPressable(target) {
  const pressable = "button, summary, a[href], input:not([type=range]), [role=button], [role=checkbox]";
  return target instanceof Element && target.closest(pressable) !== null;
}

/** @returns {HTMLDialogElement} */
function keysDialog() {
  const rows = KEY_LIST.map(([keys, words]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, words)]);
  const close = h("button", { value: "close" }, "Close");
  const form = h("form", { method: "dialog" }, close);
  const dialog = h(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keyboard shortcuts"),
    h("dl", {}, rows.flat()),
    form,
  );
  return /** @type {HTMLDialogElement} */ (dialog);
}
