// The page of `glassformer spectra`: one model, or two beside each other.

import { h, refill } from "./dom.js";
import { mountPanels } from "./panel.js";
import { changePanel } from "./spectra/change_panel.js";
import { depthPanel } from "./spectra/depth_panel.js";
import { headPanel } from "./spectra/head_panel.js";
import { mountSpectraHeader } from "./spectra/header.js";
import { headsPanel } from "./spectra/heads_panel.js";
import { acceptSpectra, spectraLab, spectraView } from "./spectra/state.js";
import { headTablePanel, weightTablePanel } from "./spectra/table_panels.js";
import { weightPanel } from "./spectra/weight_panel.js";
import { createStore } from "./store.js";
import { applyTheme, coloursInForce, onTheme } from "./theme.js";

/** @param {string} id */
const spectraPart = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {any} payload */
function openSpectra(payload) {
  const lab = spectraLab(payload);
  const store = createStore(lab.first, acceptSpectra(lab));
  const viewOf = () => spectraView(lab, store);
  const dress = () => applyTheme(coloursInForce(payload.colours, store.get()));
  Object.assign(window, { glassformer: { payload, lab, store, viewOf } });
  dress();
  store.subscribe(dress);
  onTheme(dress);
  for (const id of ["bar", "story"]) spectraPart(id).remove();
  mountSpectraHeader(spectraPart("header"), store, lab);
  const compared = payload.comparison.comparison ? [changePanel] : [];
  const panels = [
    headsPanel,
    headPanel,
    depthPanel,
    ...compared,
    weightPanel,
    headTablePanel,
    weightTablePanel,
  ];
  mountPanels(spectraPart("panels"), panels, store, viewOf);
  refill(
    spectraPart("footer"),
    h(
      "p",
      {},
      `Made by glassformer ${payload.version}. Everything is in this file; nothing is sent anywhere.`,
    ),
  );
}

openSpectra(JSON.parse(/** @type {string} */ (spectraPart("payload").textContent)));
