// The page of `glassformer spectra`: one model, or two beside each other.

import { byId, h, refill } from "./dom.js";
import { mountNotice } from "./notice.js";
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
import { followTheme } from "./theme.js";

/** @param {any} payload */
function openSpectra(payload) {
  const lab = spectraLab(payload);
  const store = createStore(lab.first, acceptSpectra(lab));
  const viewOf = () => spectraView(lab, store);
  Object.assign(window, { glassformer: { payload, lab, store, viewOf } });
  followTheme(store, payload.colours);
  for (const id of ["bar", "story"]) byId(id).remove();
  mountNotice(store);
  mountSpectraHeader(byId("header"), store, lab);
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
  mountPanels(byId("panels"), panels, store, viewOf);
  refill(
    byId("footer"),
    h(
      "p",
      {},
      `Made by glassformer ${payload.version}. Everything is in this file; nothing is sent anywhere.`,
    ),
  );
}

openSpectra(JSON.parse(/** @type {string} */ (byId("payload").textContent)));
