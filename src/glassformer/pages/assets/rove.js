// Many marks, one tab stop: Tab enters and leaves, the arrow keys walk, as in a table of a spreadsheet.

const ARROW_STEPS = new Map([
  ["ArrowLeft", [0, -1]],
  ["ArrowRight", [0, 1]],
  ["ArrowUp", [-1, 0]],
  ["ArrowDown", [1, 0]],
]);

/** @type {WeakMap<Element, Element[]>} to each mark those that share its tab stop */
const roveGroups = new WeakMap();
let roveListens = false;

/**
 * Rows of elements (null, or beyond the end of a shorter row: none there), or one flat list; `root` holds all.
 * @param {Element} root @param {Array<Array<Element|null>>|Element[]} elements
 */
export function rove(root, elements) {
  const rows = /** @type {Array<Array<Element|null>>} */ (Array.isArray(elements[0]) ? elements : [elements]);
  const flat = /** @type {Element[]} */ (rows.flat().filter(Boolean));
  flat.forEach((element, i) => {
    element.setAttribute("tabindex", i === 0 ? "0" : "-1");
    roveGroups.set(element, flat);
  });
  root.addEventListener("keydown", (event) => {
    const next = roveTarget(rows, flat, /** @type {KeyboardEvent} */ (event));
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    /** @type {SVGElement} */ (next).focus();
  });
  // One listener on the document: an SVG element that listens for focus could itself be focused.
  if (!roveListens) document.addEventListener("focusin", moveTabStop);
  roveListens = true;
}

/** Tab comes back to the mark where it left. @param {FocusEvent} event */
function moveTabStop(event) {
  const here = /** @type {Element} */ (event.target);
  for (const element of roveGroups.get(here) ?? [])
    element.setAttribute("tabindex", element === here ? "0" : "-1");
}

/** @param {Array<Array<Element|null>>} rows @param {Element[]} flat @param {KeyboardEvent} event */
function roveTarget(rows, flat, event) {
  const at = flat.indexOf(/** @type {Element} */ (event.target));
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === "Home") return flat[0];
  if (event.key === "End") return flat[flat.length - 1];
  const step = ARROW_STEPS.get(event.key);
  if (!step) return null;
  if (rows.length === 1) return flat[at + step[0] + step[1]] ?? flat[at];
  let row = rows.findIndex((each) => each.includes(flat[at]));
  let column = rows[row].indexOf(flat[at]);
  const longest = Math.max(...rows.map((each) => each.length));
  do [row, column] = [row + step[0], column + step[1]];
  while (rows[row] && column >= 0 && column < longest && !rows[row][column]);
  return rows[row]?.[column] ?? flat[at];
}
