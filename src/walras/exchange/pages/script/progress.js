// A page of something that is computed renews itself until it has ended: it is no event of the
// exchange, of which the page would hear.
import { renew } from "./live.js";

const PAUSE = 1000; // milliseconds between renewals
const PATIENCE = 5000; // milliseconds that a renewal may take before the next one is asked for
let asked = -PATIENCE;

export function followProgress(main) {
  main.addEventListener("htmx:after:swap", () => { asked = -PATIENCE; });
  setInterval(() => {
    const now = performance.now();
    if (document.hidden || !main.querySelector("progress") || now - asked < PATIENCE) return;
    asked = now;
    renew();
  }, PAUSE);
}
