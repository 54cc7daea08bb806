// Listen to what changes in the exchange, while the page is looked at.
const sign = document.querySelector("[data-live]");

function say(word, kind, about) {
  if (sign.textContent !== word) sign.textContent = word;
  sign.className = `live ${kind}`;
  sign.title = about;
}

export function listen(changed) {
  let source = null;
  const missed = new Set();
  const open = () => {
    source = new EventSource("/changes");
    source.addEventListener("open", () => say("live", "on", "This page renews itself."));
    source.addEventListener("change", (event) => {
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
