// Light or dark: what the state says, else what the system prefers; paper is always light.

/** @typedef {import("./types.js").Colours} Colours */
/** @typedef {{light: Colours, dark: Colours}} Themes */

const darkPreference = matchMedia("(prefers-color-scheme: dark)");
const printMedium = matchMedia("print");
let printing = false;

/**
 * The colours in force: state.theme, else the system's preference; light in print.
 * @param {Themes} all @param {{theme?: "light"|"dark"|null}} state
 * @returns {Colours}
 */
export function coloursInForce(all, state) {
  if (printing || printMedium.matches) return all.light;
  return all[state.theme ?? (darkPreference.matches ? "dark" : "light")];
}

/** Sets the CSS variables (--paper, --ink, ...) and data-theme of the page. @param {Colours} colours */
export function applyTheme(colours) {
  const root = document.documentElement;
  if (root.dataset.theme === colours.name) return;
  root.dataset.theme = colours.name;
  for (const [name, value] of Object.entries(colours)) {
    if (typeof value === "string" && name !== "name") root.style.setProperty(`--${name}`, value);
  }
}

/**
 * Keeps the page's own colours those in force; call it before anything else follows the store.
 * @param {import("./store.js").Store<any>} store @param {Themes} all
 */
export function followTheme(store, all) {
  const follow = () => applyTheme(coloursInForce(all, store.get()));
  store.subscribe(follow);
  onTheme(follow);
  follow();
}

/**
 * Calls back when the system's preference changes, and before and after printing.
 * @param {(printing: boolean) => void} listener
 */
export function onTheme(listener) {
  /** @param {boolean} now */
  const become = (now) => {
    printing = now;
    listener(now || printMedium.matches);
  };
  darkPreference.addEventListener("change", () => become(printing));
  printMedium.addEventListener("change", () => become(printing));
  window.addEventListener("beforeprint", () => become(true));
  window.addEventListener("afterprint", () => become(false));
}
