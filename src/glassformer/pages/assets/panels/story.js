// A guided reading in chapters. Space shows the next chapter: its input, checkpoint and panel.

import { h, refill } from "../dom.js";
import { prose } from "../prose.js";
import { follow } from "./follow.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Store} Store */

const STORY_FRAMES = 8; // for which a panel is held in place after a move

/** @param {HTMLElement} container @param {Store} store @param {() => View} viewOf */
export function mountStory(container, store, viewOf) {
  if (!viewOf().payload.story.length) return void container.remove();
  container.setAttribute("aria-label", "Story");
  /** @type {number|null|undefined} */
  let shown;
  follow(store, () => {
    const view = viewOf();
    if (view.state.chapter === shown) return;
    const isFirst = shown === undefined;
    shown = view.state.chapter;
    const focus = storyFocus(container);
    refill(container, storyCard(view));
    if (focus) storyRefocus(container, focus);
    setReading(container, view);
    if (shown !== null) requestAnimationFrame(() => bringIntoView(chapterOf(view), isFirst));
  });
}

/** The chapter that is read, or the first. @param {View} view @returns {import("../types.js").Chapter} */
function chapterOf(view) {
  const { story } = view.payload;
  return story[Math.min(view.state.chapter ?? 0, story.length - 1)];
}

/** @param {View} view */
function storyCard(view) {
  const { story } = view.payload;
  const at = view.state.chapter;
  const chapter = chapterOf(view);
  const number = `${(at ?? 0) + 1} of ${story.length}`;
  return h(
    "div",
    { class: "card" },
    h(
      "div",
      { "aria-live": "polite" },
      h("h2", { class: "title" }, chapter.title, h("span", { class: "story-number" }, number)),
      h("p", { class: "text" }, prose(chapter.text)),
    ),
    h("div", { class: "foot" }, storyDots(view), storyButtons(view)),
  );
}

/** @param {View} view */
function storyDots(view) {
  const dots = view.payload.story.map((chapter, i) =>
    h("button", {
      type: "button",
      class: "dot",
      "data-key": `dot-${i}`,
      title: chapter.title,
      "aria-label": `Chapter ${i + 1}: ${chapter.title}`,
      "aria-current": i === view.state.chapter ? "step" : null,
      onclick: () => enterChapter(view, i),
    }),
  );
  return h("div", { class: "dots", role: "group", "aria-label": "Chapters" }, dots);
}

/** @param {View} view */
function storyButtons(view) {
  const at = view.state.chapter;
  const last = view.payload.story.length - 1;
  const move = (/** @type {number} */ by) => () => moveChapter(view, by);
  const button = (
    /** @type {string} */ key,
    /** @type {string} */ words,
    /** @type {() => void} */ act,
    /** @type {boolean} */ strong,
  ) =>
    h(
      "button",
      { type: "button", class: strong ? "primary" : "quiet", "data-key": key, onclick: act },
      words,
    );
  if (at === null)
    return h(
      "div",
      { class: "story-moves" },
      button("next", "Start the story", move(1), true),
      h("span", { class: "muted small" }, "or press Space"),
    );
  return h(
    "div",
    { class: "story-moves" },
    button("leave", "Leave", () => leaveStory(view), false),
    at > 0 && button("back", "Back", move(-1), false),
    button("next", at < last ? "Next" : "Done", move(1), true),
  );
}

/**
 * The next or previous chapter; after the last one the story ends. False where there is none.
 * @param {View} view @param {number} by
 */
export function moveChapter(view, by) {
  const at = view.store.get().chapter; // a click may come before the last one is drawn
  const next = at === null ? (by > 0 ? 0 : -1) : at + by;
  if (next < 0 || !view.payload.story.length) return false;
  if (next >= view.payload.story.length) return leaveStory(view);
  enterChapter(view, next);
  return true;
}

/**
 * A chapter shows what its text is about: the first state with the chapter's patch.
 * @param {View} view @param {number} number
 */
function enterChapter(view, number) {
  const chapter = view.payload.story[number];
  const { theme, layer, head, dims } = view.state;
  const kept = { ...view.lab.firstState(), theme, layer, head, dims };
  view.change({ ...kept, ...chapter.state, panel: chapter.panel || null, chapter: number });
}

/** True where a story was being read. @param {View} view */
export function leaveStory(view) {
  if (view.state.chapter === null) return false;
  view.change({ chapter: null, panel: null });
  return true;
}

/**
 * Docked while a chapter is read; the panel is outlined since it is the state's.
 * @param {HTMLElement} container @param {View} view
 */
function setReading(container, view) {
  const isRead = view.state.chapter !== null;
  container.classList.toggle("reading", isRead);
  document.documentElement.style.setProperty(
    "--story-height",
    isRead ? `${container.offsetHeight}px` : "0px",
  );
}

/**
 * Panels above may grow while they are drawn, so it scrolls again at the end.
 * @param {import("../types.js").Chapter} chapter @param {boolean} isFirst
 */
function bringIntoView(chapter, isFirst) {
  const panel = document.getElementById(`panel-${chapter.panel}`);
  if (chapter.panel && !panel) return;
  const isCalm = isFirst || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const spot = () => panel?.querySelector(`[data-picture="${chapter.picture}"]`) ?? panel;
  const move = (/** @type {ScrollBehavior} */ behavior) => window.scrollTo({ top: topOf(spot()), behavior });
  move(isCalm ? "instant" : "smooth");
  const again = (/** @type {number} */ frames) => {
    if (Math.abs(topOf(spot()) - window.scrollY) > 4) move("instant");
    if (frames > 0) requestAnimationFrame(() => again(frames - 1));
  };
  if (isCalm) requestAnimationFrame(() => again(STORY_FRAMES));
  else document.addEventListener("scrollend", () => again(STORY_FRAMES), { once: true });
}

/** Where to scroll for a panel or picture to stand under the bar; the head of the page where there is none. */
function topOf(/** @type {Element|null} */ panel) {
  if (!panel) return 0;
  const bar = document.getElementById("bar");
  const isSticky = bar && getComputedStyle(bar).position === "sticky";
  const most = document.documentElement.scrollHeight - window.innerHeight;
  const top = panel.getBoundingClientRect().top + window.scrollY - (isSticky ? bar.offsetHeight : 0) - 12;
  return Math.max(0, Math.min(top, most));
}

/** The key of the focused button: a new card must not lose the focus. @param {HTMLElement} container */
function storyFocus(container) {
  const active = document.activeElement;
  return active && container.contains(active) ? active.getAttribute("data-key") : null;
}

/** @param {HTMLElement} container @param {string} key */
function storyRefocus(container, key) {
  const same = container.querySelector(`[data-key="${key}"]`) ?? container.querySelector('[data-key="next"]');
  /** @type {HTMLElement|null} */ (same)?.focus({ preventScroll: true });
}
