// The state of a page: one plain object, remembered in the address bar, so that a link shows what its sender
// saw.

const SETTLED = 150; // milliseconds without a change: browsers refuse an address that changes all the time

/**
 * @template {Object<string, any>} S
 * @typedef {{get: () => S, set: (patch: Partial<S>) => void, subscribe: (listener: (state: S) => void) => void,
 *   link: () => string, refused: () => Array<[string, string]>}} Store
 */

/**
 * `accept` turns what a link asks for into a valid patch: what it cannot read it leaves out, and is refused.
 * @template {Object<string, any>} S
 * @param {S} first @param {(wish: Object<string, any>) => Partial<S>} accept @returns {Store<S>}
 */
export function createStore(first, accept) {
  /** @type {Array<(state: S) => void>} */
  const listeners = [];
  /** @type {Array<[string, string]>} */
  let refused = [];
  let state = asked(first);
  let written = location.hash;
  let waiting = 0;

  /** What the address asks for; what is refused stays as it is. @param {S} now @returns {S} */
  function asked(now) {
    const wish = decode(location.hash);
    const taken = accept(wish);
    refused = Object.entries(wish).filter(
      ([key, text]) => text !== "" && Object.hasOwn(first, key) && !Object.hasOwn(taken, key),
    );
    const kept = Object.fromEntries(refused.map(([key]) => [key, now[key]]));
    return { ...first, ...kept, ...taken };
  }

  function write() {
    written = encode(state, first);
    remember(written);
  }
  /** @param {S} next */
  function become(next) {
    state = next;
    for (const listener of listeners) listener(state);
  }
  window.addEventListener("hashchange", () => {
    if (location.hash !== written) become(asked(state));
    written = location.hash;
  });
  return {
    get: () => state,
    set(patch) {
      refused = [];
      become({ ...state, ...patch });
      clearTimeout(waiting);
      waiting = setTimeout(write, SETTLED);
    },
    subscribe: (listener) => void listeners.push(listener),
    refused: () => refused,
    link: () => location.href.split("#")[0] + encode(state, first),
  };
}

/** A page inside a notebook has no address of its own: then nothing is remembered. @param {string} hash */
function remember(hash) {
  try {
    history.replaceState(null, "", hash || location.pathname + location.search);
  } catch {
    return;
  }
}

/**
 * Only what differs from the first state: "#input=4+7&step=300".
 * @param {Object<string, any>} state @param {Object<string, any>} first
 */
export function encode(state, first) {
  const pairs = Object.entries(state)
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(first[key]))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  return pairs.length ? `#${new URLSearchParams(pairs)}` : "";
}

/** Texts stay texts; numbers, lists and objects are read as JSON. @param {string} hash */
export function decode(hash) {
  /** @type {Object<string, any>} */
  const wish = {};
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ""))) wish[key] = text;
  return wish;
}

/** What a text of a link stands for; undefined where it is no JSON. @param {string} text */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
