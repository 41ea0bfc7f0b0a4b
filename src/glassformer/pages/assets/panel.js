// Panels: cards with a title, a picture, a note and a menu to save them. Those in the window are drawn at once,
// those near it when nothing has moved for a while.

import { h, refill } from "./dom.js";
import { prose } from "./prose.js";
import { saveMenu } from "./save_menu.js";
import { onTheme } from "./theme.js";
import { closeTip } from "./tip.js";

/** @typedef {import("./types.js").Panel<any>} PanelSpec */
/** @typedef {import("./types.js").AnyView} AnyView */
/** @typedef {import("./types.js").Drawing} Drawing */
/**
 * @typedef {{panel: PanelSpec, section: HTMLElement, about: HTMLElement, controls: HTMLElement, figure:
 *   HTMLElement, note: HTMLElement, menu: HTMLElement, drawing: Drawing|null, width: number, inWindow:
 *   boolean, near: boolean, stale: boolean}} Card
 */

const NEAR = 500; // pixels round the window within which panels are kept up to date
const AT_REST = 120; // milliseconds without a change, after which the rest is drawn, and what was drawn roughly
const FIGURE_EDGE = 2; // the padding of a figure in style.css, which keeps the outline of the focus whole
const FOCUS_STOPS = "a[href], button, input, select, summary, textarea, [tabindex]";

/**
 * Builds a card for each panel and keeps it up to date with the store, the width and the theme.
 * @param {Element} container @param {PanelSpec[]} panels @param {import("./store.js").Store<any>} store
 * @param {() => AnyView} viewOf
 */
export function mountPanels(container, panels, store, viewOf) {
  const cards = panels.map((panel) => cardOf(panel, viewOf));
  container.append(...cards.map((card) => card.section));
  measureCards(cards);
  const { ask, drawNow } = drawingOf(cards, viewOf);
  const drawAll = () => drawNow(() => true);
  const redraw = () => {
    for (const card of cards) markStale(card, true);
    ask();
  };
  const point = () => {
    for (const card of cards) card.section.classList.toggle("pointed", store.get().panel === card.panel.id);
  };
  point();
  drawNow((card) => card.inWindow);
  watchCards(cards, ask);
  store.subscribe(() => (point(), redraw()));
  onTheme((printing) => (redraw(), printing && drawAll()));
  return { redraw, drawAll };
}

/**
 * `drawNow` draws the stale cards of a kind; `ask` those in the window in the next frame, and those near it,
 * or drawn roughly while all moved, one by one at rest. So a drag waits only for what is seen. A card without a
 * width (a notebook's cell that is folded, or not laid out yet) waits until it has one.
 * @param {Card[]} cards @param {() => AnyView} viewOf
 */
function drawingOf(cards, viewOf) {
  let asked = false;
  let resting = 0;
  let drawnAt = -Infinity;
  const drawNow = (/** @type {(card: Card) => boolean} */ isMeant, isMoving = false) => {
    const due = cards.filter((card) => card.stale && card.width > 0 && isMeant(card));
    if (!due.length) return;
    const view = viewOf();
    view.isMoving = isMoving;
    for (const card of due) drawCard(card, view);
    closeTip(true);
  };
  const rest = (/** @type {number} */ wait) => {
    clearTimeout(resting);
    const next = cards.find((card) => card.near && card.width > 0 && (card.stale || card.drawing?.isRough));
    if (!next) return;
    resting = setTimeout(() => {
      markStale(next, true);
      drawNow((card) => card === next);
      rest(0);
    }, wait);
  };
  const frame = () => {
    asked = false;
    drawNow((card) => card.inWindow, performance.now() - drawnAt < AT_REST);
    drawnAt = performance.now();
    rest(AT_REST);
  };
  const ask = () => {
    if (!asked) requestAnimationFrame(frame);
    asked = true;
  };
  return { ask, drawNow };
}

/** @param {PanelSpec} panel @param {() => AnyView} viewOf @returns {Card} */
function cardOf(panel, viewOf) {
  const name = `title-${panel.id}`;
  const card = /** @type {Card} */ (
    /** @type {any} */ ({ panel, drawing: null, width: 0, inWindow: false, near: false, stale: true })
  );
  const parts = {
    about: h("p", { class: "about" }),
    controls: h("div", { class: "controls" }),
    figure: h("figure", { class: "figure" }),
    hint: h("p", { class: "hint" }, "Wider than the window: scroll it sideways."),
    note: h("p", { class: "note" }),
    menu: saveMenu(panel, viewOf, () => card.drawing),
  };
  const head = h("div", { class: "head" }, h("h2", { id: name }, panel.title), parts.menu);
  const section = h(
    "section",
    { class: panel.wide ? "panel wide" : "panel", id: `panel-${panel.id}`, "aria-labelledby": name },
    head,
    parts.about,
    parts.controls,
    parts.figure,
    parts.hint,
    parts.note,
  );
  Object.assign(card, { section, ...parts });
  return card;
}

/** All sizes are read once, before anything is drawn. @param {Card[]} cards */
function measureCards(cards) {
  for (const card of cards) {
    card.width = card.figure.clientWidth - 2 * FIGURE_EDGE;
    const { top } = card.section.getBoundingClientRect();
    [card.inWindow, card.near] = [top < window.innerHeight, top < window.innerHeight + NEAR];
  }
}

/** @param {Card[]} cards @param {() => void} ask */
function watchCards(cards, ask) {
  const byFigure = new Map(cards.map((card) => [/** @type {Element} */ (card.figure), card]));
  const sized = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const card = byFigure.get(entry.target);
      const width = Math.round(entry.contentRect.width);
      if (!card || !width || Math.abs(width - card.width) < 1) continue;
      card.width = width;
      markStale(card, true);
    }
    ask();
  });
  for (const card of cards) sized.observe(card.figure);
  watchWindow(cards, "inWindow", 0, ask);
  watchWindow(cards, "near", NEAR, ask);
}

/** @param {Card[]} cards @param {"inWindow"|"near"} field @param {number} room @param {() => void} ask */
function watchWindow(cards, field, room, ask) {
  const bySection = new Map(cards.map((card) => [/** @type {Element} */ (card.section), card]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const card = bySection.get(entry.target);
        if (card) card[field] = entry.isIntersecting;
      }
      ask();
    },
    { rootMargin: `${room}px 0px` },
  );
  for (const card of cards) observer.observe(card.section);
}

/** `data-stale` tells a test that a panel shows an older state, or shows its own roughly. */
function markStale(/** @type {Card} */ card, /** @type {boolean} */ isStale) {
  card.stale = isStale;
  card.section.toggleAttribute("data-stale", isStale || Boolean(card.drawing?.isRough));
}

/**
 * A panel that cannot be drawn says so; the others are drawn.
 * @param {Card} card @param {AnyView} view
 */
function drawCard(card, view) {
  card.stale = false;
  try {
    const missing = card.panel.missing?.(view) ?? null;
    if (missing !== null) showSentence(card, "missing", missing);
    else showDrawing(card, card.panel.draw(view, card.width), card.panel.about(view));
  } catch (error) {
    console.error(error);
    showSentence(
      card,
      "failed",
      `This panel could not be drawn: ${error instanceof Error ? error.message : error}.`,
    );
  }
  markStale(card, card.stale); // drawing may move the focus, and so change the state
  card.section.dataset.draws = String(Number(card.section.dataset.draws ?? 0) + 1);
}

/** @param {Card} card @param {Drawing} drawing @param {string} about */
function showDrawing(card, drawing, about) {
  const focus = focusPlace(card);
  card.drawing = drawing;
  card.section.classList.remove("missing", "failed", "spills");
  card.menu.hidden = false;
  card.about.textContent = about;
  card.note.textContent = drawing.note ?? "";
  card.figure.setAttribute("aria-label", drawing.alt);
  markPictures(drawing.node, drawing.alt);
  keepOrRefill(card.controls, drawing.controls ?? []);
  keepOrRefill(card.figure, [drawing.node]);
  card.section.classList.toggle("spills", widestPicture(drawing.node) > card.width);
  if (focus) refocus(focus);
}

/**
 * A picture with focusable parts is a group; any other is one image with a text alternative.
 * @param {Element} node @param {string} alt
 */
function markPictures(node, alt) {
  const isOne = node.tagName === "svg";
  if (isOne) node.setAttribute("aria-label", alt);
  for (const svg of isOne ? [node] : node.querySelectorAll("svg[role=img]")) {
    if (!svg.hasAttribute("aria-label") || svg.querySelector("[tabindex]")) svg.setAttribute("role", "group");
  }
}

/** @param {Element} node */
function widestPicture(node) {
  const all = node.tagName === "svg" ? [node] : [...node.querySelectorAll("svg")];
  return Math.max(0, ...all.map((svg) => Number(svg.getAttribute("width"))));
}

/**
 * The same elements stay where they are, so that a slider is not torn from under the finger.
 * @param {Element} parent @param {Element[]} children
 */
function keepOrRefill(parent, children) {
  const same =
    parent.children.length === children.length && children.every((child, i) => parent.children[i] === child);
  if (!same) refill(parent, children);
}

/** @param {Card} card @param {"missing"|"failed"} kind @param {string} sentence */
function showSentence(card, kind, sentence) {
  card.drawing = null;
  card.section.classList.remove("missing", "failed", "spills");
  card.section.classList.add(kind);
  card.menu.hidden = true;
  card.about.textContent = "";
  card.note.textContent = "";
  card.figure.removeAttribute("aria-label");
  refill(card.controls);
  refill(card.figure, h("p", { class: kind, role: kind === "failed" ? "alert" : null }, prose(sentence)));
}

/** Where the focus stands inside a card: the data-key of its element, or its number. @param {Card} card */
function focusPlace(card) {
  const here = document.activeElement;
  const parent = [card.controls, card.figure].find((each) => here && each.contains(here));
  if (!here || !parent) return null;
  return {
    parent,
    here,
    key: here.getAttribute("data-key"),
    at: [...parent.querySelectorAll(FOCUS_STOPS)].indexOf(here),
  };
}

/** @param {{parent: Element, here: Element, key: string|null, at: number}} place */
function refocus({ parent, here, key, at }) {
  if (here.isConnected) return;
  const stops = [...parent.querySelectorAll(FOCUS_STOPS)];
  const next = key === null ? stops[at] : stops.find((each) => each.getAttribute("data-key") === key);
  /** @type {HTMLElement|undefined} */ (next)?.focus({ preventScroll: true });
}
