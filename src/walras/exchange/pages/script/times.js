// Times say how long ago they were; the page's own clock goes on from the service's.
function length(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const k = units.findIndex(([, size]) => seconds >= size);
  if (k < 0) return null;
  const [unit, size] = units[k];
  const whole = Math.floor(seconds / size);
  if (k === units.length - 1 || whole >= 10) return `${whole} ${unit}`;
  const [other, small] = units[k + 1];
  const rest = Math.floor((seconds - whole * size) / small);
  return rest && k < 2 ? `${whole} ${unit} ${rest} ${other}` : `${whole} ${unit}`;
}

export function keepTimes() {
  setInterval(() => {
    if (document.hidden) return;
    const now = Date.now() / 1000;
    for (const time of document.querySelectorAll("time[data-at]")) {
      const text = length(now - Number(time.dataset.at));
      if (text) time.textContent = `${text} ago`;
    }
  }, 5000);
}
