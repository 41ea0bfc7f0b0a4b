// The page of `glassformer spectra`: one model, or two side by side.

import { byId, h, refill } from "../../../pages/assets/dom.js";
import { mountNotice } from "../../../pages/assets/notice.js";
import { mountPanels } from "../../../pages/assets/panel.js";
import { changePanel } from "./change_panel.js";
import { depthPanel } from "./depth_panel.js";
import { headPanel } from "./head_panel.js";
import { mountSpectraHeader } from "./header.js";
import { headsPanel } from "./heads_panel.js";
import { acceptSpectra, spectraLab, spectraView } from "./state.js";
import { headTablePanel, weightTablePanel } from "./table_panels.js";
import { weightPanel } from "./weight_panel.js";
import { createStore } from "../../../pages/assets/store.js";
import { followTheme } from "../../../pages/assets/theme.js";

/** @typedef {import("./types.js").SpectraPayload} SpectraPayload */

/** @param {SpectraPayload} payload */
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
