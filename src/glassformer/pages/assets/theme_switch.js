// The choice of light or dark that every page has, by hand or as the system prefers.

import { h } from "./dom.js";

const THEME_CHOICES = /** @type {const} */ ([
  [null, "System"],
  ["light", "Light"],
  ["dark", "Dark"],
]);

/** Three buttons; the one in force is pressed. @param {import("./store.js").Store<any>} store */
export function themeSwitch(store) {
  const buttons = THEME_CHOICES.map(([theme, words]) =>
    h("button", { type: "button", onclick: () => store.set({ theme }) }, words),
  );
  const mark = () =>
    THEME_CHOICES.forEach(([theme], i) =>
      buttons[i].setAttribute("aria-pressed", String(theme === store.get().theme)),
    );
  store.subscribe(mark);
  mark();
  return h("div", { class: "group", role: "group", "aria-label": "Colours" }, buttons);
}
