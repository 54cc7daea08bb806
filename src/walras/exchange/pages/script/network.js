// The page of a network: it is renewed while the network runs, and its graph takes clicks.
import { send } from "./api.js";
import { renew } from "./live.js";
import { note } from "./notes.js";

const PAUSE = 500; // milliseconds between renewals
const PATIENCE = 5000; // milliseconds that a renewal may take before the next one is asked for
const DOWN = ["stopped", "owed", "settled"];
let asked = -PATIENCE;

const place = () => document.querySelector("[data-network]");

async function act(verb, body) {
  try {
    await send("POST", `/v1/networks/${place().dataset.network}:${verb}`, body);
    renew("now");
  } catch (error) {
    note(error.message, true);
  }
}

export function clicked({ dataType, data }) {
  if (!place()?.dataset.may || !data?.row) return;
  const { row } = data;
  if (dataType === "edge") act(row.state === "cut" ? "mend" : "cut", { links: [[row.one, row.other]] });
  else act(DOWN.includes(row.state) ? "start" : "kill", { centre: row.centre });
}

export function followNetwork(main) {
  main.addEventListener("htmx:after:swap", () => { asked = -PATIENCE; });
  setInterval(() => {
    const now = performance.now();
    if (document.hidden || place()?.dataset.state !== "running" || now - asked < PATIENCE) return;
    asked = now;
    renew(); // many who look share one making of the page; the charts ask for themselves
  }, PAUSE);
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-speed]");
    if (form && place()?.dataset.state === "running") form.requestSubmit();
  });
}
