// Listen to what changes in the exchange, while the page is looked at.
const sign = document.querySelector("[data-live]");
const main = document.getElementById("main");

main.addEventListener("htmx:config:request", (event) => {
  const { request, sourceEvent } = event.detail.ctx;
  request.headers["X-Walras-After"] = sourceEvent?.detail ?? last;
});

function say(word, kind, about) {
  if (sign.textContent !== word) sign.textContent = word;
  sign.className = `live ${kind}`;
  sign.title = about;
}

// The event that the page has to show when it is renewed: the last it heard of, or "now" after a
// change of its own, of which it may not have heard yet.
let last = "0";

export function renew(after = last) {
  main.dispatchEvent(new CustomEvent("walras:renew", { detail: after }));
}

export function listen(changed) {
  let source = null;
  const missed = new Set();
  const open = () => {
    source = new EventSource("/changes");
    source.addEventListener("open", () => say("live", "on", "This page renews itself."));
    source.addEventListener("change", (event) => {
      last = event.lastEventId;
      for (const topic of event.data.split(" ")) missed.add(topic);
      if (document.hidden) return;
      changed(new Set(missed));
      missed.clear();
    });
    source.addEventListener("unauthorised", () => {
      source.close();
      location.assign("/login");
    });
    source.addEventListener("error", () => say("not live", "off", "The service does not answer; trying again."));
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || missed.size === 0) return;
    changed(new Set(missed));
    missed.clear();
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();
}
