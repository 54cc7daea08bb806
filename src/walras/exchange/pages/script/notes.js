// Short messages at the foot of the page, read aloud by screen readers; and questions.
const place = document.querySelector("[data-notes]");

export function note(text, bad = false) {
  const made = document.createElement("div");
  made.className = bad ? "note bad" : "note";
  made.textContent = text;
  place.append(made);
  setTimeout(() => made.remove(), bad ? 15000 : 5000);
}

export function ask(question) {
  return new Promise((resolve) => {
    const dialog = document.createElement("dialog");
    const text = document.createElement("p");
    text.textContent = question;
    dialog.setAttribute("aria-label", question);
    const row = document.createElement("div");
    row.className = "row";
    for (const [word, value] of [["No", ""], ["Yes", "yes"]]) {
      const button = document.createElement("button");
      button.textContent = word;
      button.type = "button";
      if (value) button.className = "primary";
      button.addEventListener("click", () => dialog.close(value));
      row.append(button);
    }
    dialog.append(text, row);
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
