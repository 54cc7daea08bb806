// Light, dark, or as the computer says; the choice is kept in this browser.
const ORDER = ["", "light", "dark"];

function use(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function offerThemes() {
  const button = document.querySelector("[data-theme-button]");
  let theme = localStorage.getItem("walras-theme") ?? "";
  const show = () => {
    use(theme);
    button.textContent = theme ? `Theme: ${theme}` : "Theme: auto";
  };
  show();
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    localStorage.setItem("walras-theme", theme);
    show();
    document.dispatchEvent(new CustomEvent("walras:theme"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new CustomEvent("walras:theme")));
}
