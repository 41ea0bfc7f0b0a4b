// The sheet under the pointer and the keys: a cell is chosen by a click, changed by a drag or the arrows.

import { closeTip } from "../tip.js";
import { changeNumber, currentValue, onePercent, storedValue } from "./parameter_values.js";

/** @typedef {import("./parameter_sheet.js").Sheet} Sheet */
/** @typedef {import("./parameter_sheet.js").SheetCell} SheetCell */

const DRAG_FROM = 4; // pixels before a press becomes a drag

/** @param {Sheet} sheet */
export function sheetListen(sheet) {
  /**
   * @type {{cell: SheetCell, x: number, from: number, id: number, moved: boolean, next: number|null}|null}
   */
  let drag = null;
  const cellOf = (/** @type {Element} */ target) =>
    sheet.cells.get(target.closest?.(".parameter-cell")?.getAttribute("data-key") ?? "");
  const apply = () => {
    if (drag?.next !== null && drag) changeNumber(sheet.view, drag.cell.spot, drag.next);
    if (drag) drag.next = null;
  };
  const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ act) =>
    sheet.root.addEventListener(name, act);
  on("focusin", ({ target }) => {
    const cell = cellOf(target);
    if (cell && sheet.view.now.state.chosen !== cell.spot.key) sheet.view.change({ chosen: cell.spot.key });
  });
  on("keydown", (event) => {
    const cell = cellOf(event.target);
    if (cell && pressedCell(sheet, cell, event)) event.preventDefault();
  });
  on("pointerdown", (event) => {
    const cell = cellOf(event.target);
    if (cell && event.button === 0)
      drag = {
        cell,
        x: event.clientX,
        from: currentValue(sheet.view.now, cell.spot),
        id: event.pointerId,
        moved: false,
        next: null,
      };
  });
  on("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const by = event.clientX - drag.x;
    if (!drag.moved && Math.abs(by) < DRAG_FROM) return;
    if (!drag.moved) {
      sheet.root.setPointerCapture(event.pointerId);
      closeTip();
      event.preventDefault();
    }
    drag.moved = true;
    if (drag.next === null) requestAnimationFrame(apply);
    drag.next = drag.from + by * onePercent(sheet.view, drag.cell.spot);
  });
  const end = () => (apply(), (drag = null));
  on("pointerup", end);
  on("pointercancel", end);
}

/**
 * True where the key was one of a cell's.
 * @param {Sheet} sheet @param {SheetCell} cell @param {KeyboardEvent} event
 */
function pressedCell(sheet, cell, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { keys } = sheet;
  const view = sheet.view.now;
  const at = keys.indexOf(cell.spot.key);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: keys.length - 1 }[event.key];
  const steps = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (to !== undefined) sheet.cells.get(keys[to])?.group.focus();
  else if (steps)
    changeNumber(
      view,
      cell.spot,
      currentValue(view, cell.spot) + steps * (event.shiftKey ? 10 : 1) * onePercent(view, cell.spot),
    );
  else if (event.key === "Delete" || event.key === "Backspace")
    changeNumber(view, cell.spot, storedValue(view, cell.spot));
  else return false;
  if (to === undefined) closeTip();
  return true;
}
