// The page of one model: reads the payload, makes the laboratory and the state, and mounts every part.

import { h, refill } from "./dom.js";
import { mountKeys } from "./keys.js";
import { createLab } from "./lab.js";
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

const PANELS = {
  rule: [predictionPanel, geometryPanel, attentionPanel, parametersPanel, proofPanel, populationPanel],
  adder: [
    digitsPanel,
    numberlinePanel,
    { ...predictionPanel, wide: false },
    attentionPanel,
    geometryPanel,
    parametersPanel,
    proofPanel,
    populationPanel,
  ],
};

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {import("./types.js").Payload} payload */
function open(payload) {
  const lab = createLab(payload);
  const store = createStore(lab.firstState(), lab.accept);
  const viewOf = () => lab.view(store.get(), store);
  Object.assign(window, { glassformer: { payload, lab, store, viewOf } });
  followTheme(store, payload.colours);
  mountHeader(part("header"), store, viewOf);
  mountStory(part("story"), store, viewOf);
  mountInput(part("input"), store, viewOf);
  mountScrubber(part("scrubber"), store, viewOf);
  mountPanels(part("panels"), PANELS[payload.kind], store, viewOf);
  mountKeys(store, viewOf);
  refill(part("footer"), footer(payload));
}

/** @param {import("./types.js").Payload} payload */
function footer(payload) {
  const words = `${payload.name}: made by glassformer ${payload.version}. Everything is computed here, in float64; nothing is sent anywhere.`;
  return h("p", {}, words, " Press ? for the keys.");
}

open(JSON.parse(/** @type {string} */ (part("payload").textContent)));
