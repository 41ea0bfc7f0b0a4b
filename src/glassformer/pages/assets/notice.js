// A sentence on what a link asks for and the page does not have, until something is changed.

import { byId, h, refill } from "./dom.js";
import { quoted } from "./prose.js";

/** @param {import("./store.js").Store<any>} store */
export function mountNotice(store) {
  const notice = h("p", { class: "notice", id: "notice", role: "status" });
  byId("header").before(notice);
  const show = () => refill(notice, refusedWords(store.refused()));
  store.subscribe(show);
  show();
}

/** @param {Array<[string, string]>} refused */
function refusedWords(refused) {
  if (!refused.length) return "";
  const asked = refused.slice(0, 3).map(([key, text]) => `${key} ${quoted(text)}`);
  const more = refused.length > 3 ? ` and ${refused.length - 3} more` : "";
  return `The link asks for ${asked.join(", ")}${more}, which this page does not have. It shows the rest.`;
}
