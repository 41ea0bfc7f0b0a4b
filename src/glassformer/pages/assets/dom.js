// Elements from plain data. Texts become text nodes: nothing that a run folder holds is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node|string|number|null|undefined|false} Child */

/**
 * An HTML element: h("button", {class: "quiet", onclick: play}, "Play").
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Object<string, any>} [attributes] @param {...(Child|Child[])} children
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * An SVG element: s("circle", {cx: 3, cy: 4, r: 2, fill: colours.accent}).
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Object<string, any>} [attributes] @param {...(Child|Child[])} children
 */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element @param {Object<string, any>} attributes @param {Array<Child|Child[]>} children
 */
function filled(element, attributes, children) {
  for (const name in attributes) {
    const value = attributes[name];
    if (isAbsent(value)) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) {
    if (Array.isArray(child)) for (const each of child) put(element, each);
    else put(element, child);
  }
  return element;
}

/** Thousands of elements are made per second while a parameter is dragged, so it makes no lists. */
function put(/** @type {Element} */ element, /** @type {Child} */ child) {
  if (!isAbsent(child)) element.append(/** @type {Node|string} */ (child));
}

/** @param {any} value */
function isAbsent(value) {
  return value === null || value === undefined || value === false;
}

/** A part of the page that is always there. @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Other children for an element. @param {Element} element @param {...(Child|Child[])} children */
export function refill(element, ...children) {
  element.replaceChildren(...present(children));
}

/** @param {Array<Child|Child[]>} children @returns {Array<Node|string>} */
function present(children) {
  return /** @type {any[]} */ (children.flat()).filter((child) => !isAbsent(child));
}
