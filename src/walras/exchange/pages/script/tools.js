// Each chart offers its data, an image, and the Python that draws it.
const quoted = (value) => {
  if (value === null || value === undefined) return "";
  // A text that begins so would be a formula in a spreadsheet; a number stays a number.
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csv(rows) {
  const names = Object.keys(rows[0]);
  return [names.join(","), ...rows.map((row) => names.map((name) => quoted(row[name])).join(","))].join("\r\n") + "\r\n";
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function button(word, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = word;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

export function tools(figure, held, code) {
  const place = figure.querySelector(".tools");
  if (place.childElementCount) return;
  const title = figure.querySelector("strong").textContent;
  const name = `walras-${figure.dataset.chart}`;
  place.append(
    button("Data", `${title}: data as CSV`, () => save(`${name}.csv`, new Blob([csv(held.rows)], { type: "text/csv" }))),
    button("Image", `${title}: image`, () => {
      const canvas = figure.querySelector("canvas");
      const made = document.createElement("canvas");
      [made.width, made.height] = [canvas.width, canvas.height];
      const pen = made.getContext("2d");
      pen.fillStyle = getComputedStyle(figure).backgroundColor;
      pen.fillRect(0, 0, made.width, made.height);
      pen.drawImage(canvas, 0, 0);
      made.toBlob((blob) => save(`${name}.png`, blob));
    }),
    button("Python", `${title}: Python that draws it`, () => {
      const shown = figure.querySelector("pre");
      if (shown) { shown.remove(); return; }
      const made = document.createElement("pre");
      made.tabIndex = 0;
      made.textContent = code();
      figure.append(made);
    }),
  );
}
