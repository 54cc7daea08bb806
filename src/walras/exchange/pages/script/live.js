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

// What stands on the page is of the past once the service has not answered for a while.
const PATIENCE = 3000; // milliseconds
const banner = document.querySelector("[data-stale]");
let waiting = 0;

function silent() {
  say("not live", "off", "The service does not answer; trying again.");
  const since = new Date().toLocaleTimeString();
  waiting ||= setTimeout(() => {
    banner.textContent = `The service has not answered since ${since}: what stands here is of then. This page goes on trying.`;
    banner.hidden = false;
    document.body.classList.add("stale");
  }, PATIENCE);
}

function heard() {
  say("live", "on", "This page renews itself.");
  clearTimeout(waiting);
  waiting = 0;
  banner.hidden = true;
  if (document.body.classList.replace("stale", "renewed")) renew("now");
}

export function listen(changed) {
  let source = null;
  const missed = new Set();
  const open = () => {
    source = new EventSource("/changes");
    source.addEventListener("open", heard);
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
    source.addEventListener("error", silent);
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
