// What every page does: it renews itself, sends its forms to the API, and draws its charts.
import "htmx.org";
import { listen, renew } from "./live.js";
import { sendForms } from "./forms.js";
import { followNetwork } from "./network.js";
import { followProgress } from "./progress.js";
import { keepTimes } from "./times.js";
import { offerThemes } from "./theme.js";
import { answerWhatIf } from "./whatif.js";

offerThemes();
keepTimes();
sendForms();
answerWhatIf();

const main = document.getElementById("main");
followNetwork(main);
followProgress(main);

// The tab of this page is in sight; scrollIntoView would let the Tab key begin there.
const nav = document.querySelector("nav"), here = nav?.querySelector("[aria-current]");
if (here) nav.scrollLeft = here.offsetLeft + here.offsetWidth - nav.offsetLeft - nav.clientWidth;

async function draw() {
  if (!document.querySelector("[data-chart]")) return;
  const charts = await import("./charts.js");
  charts.drawAll();
}

// A page whose topics have changed is asked for again; its charts ask the API themselves.
listen((topics) => {
  const shown = (main.dataset.topics ?? "").split(" ").filter(Boolean);
  if (!shown.some((topic) => topics.has(topic))) return;
  renew();
  draw();
});
main.addEventListener("htmx:after:swap", draw);
document.addEventListener("walras:theme", draw);
draw();
