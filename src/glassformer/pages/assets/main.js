// The page of one model: reads the payload, makes the laboratory and the state, and mounts every part.

import { byId, h, refill } from "./dom.js";
import { panelsOf } from "./families/families.js";
import { mountKeys } from "./keys.js";
import { createLab } from "./lab.js";
import { mountNotice } from "./notice.js";
import { mountPanels } from "./panel.js";
import { attentionPanel } from "./panels/attention.js";
import { digitsPanel } from "./panels/digits.js";
import { geometryPanel } from "./panels/geometry.js";
import { mountHeader } from "./panels/header.js";
import { mountInput } from "./panels/input.js";
import { numberlinePanel } from "./panels/numberline.js";
import { parametersPanel } from "./panels/parameters.js";
import { populationPanel } from "./panels/population.js";
import { predictionPanel } from "./panels/prediction.js";
import { proofPanel } from "./panels/proof.js";
import { mountScrubber } from "./panels/scrubber.js";
import { mountStory } from "./panels/story.js";
import { createStore } from "./store.js";
import { followTheme } from "./theme.js";

/**
 * In the order of the page; a panel says for which families it is, and a family which come first.
 * @type {import("./types.js").Panel<any>[]}
 */
const PANELS = [
  digitsPanel,
  numberlinePanel,
  predictionPanel,
  geometryPanel,
  attentionPanel,
  parametersPanel,
  proofPanel,
  populationPanel,
];

/** @param {import("./types.js").Payload} payload */
function open(payload) {
  const lab = createLab(payload);
  const store = createStore(lab.firstState(), lab.accept);
  const viewOf = () => lab.view(store.get(), store);
  Object.assign(window, { glassformer: { payload, lab, store, viewOf } });
  followTheme(store, payload.colours);
  mountNotice(store);
  mountHeader(byId("header"), store, viewOf);
  mountStory(byId("story"), store, viewOf);
  mountInput(byId("input"), store, viewOf);
  mountScrubber(byId("scrubber"), store, viewOf);
  mountPanels(byId("panels"), panelsOf(payload, PANELS), store, viewOf);
  mountKeys(viewOf);
  refill(byId("footer"), footer(payload));
}

/** @param {import("./types.js").Payload} payload */
function footer(payload) {
  const made = `${payload.name}: made by glassformer ${payload.version}.`;
  const words = "The model runs in this page, in float64; nothing is sent anywhere. Press ? for shortcuts.";
  return h("p", {}, `${made} ${words}`);
}

open(JSON.parse(/** @type {string} */ (byId("payload").textContent)));
