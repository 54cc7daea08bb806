// Forms that change something: data-api="POST /v1/…" sends their fields as JSON.
import { send } from "./api.js";
import { renew } from "./live.js";
import { ask, note } from "./notes.js";

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function pairs(text, kind) {
  return Object.fromEntries(lines(text).map((line) => {
    const [name, ...rest] = line.split("=");
    const value = rest.join("=").trim();
    const made = kind === Number ? Number(value) : value;
    if (!name.trim() || value === "" || Number.isNaN(made)) throw new Error(`write ${line} as name=${kind === Number ? "number" : "value"}`);
    return [name.trim(), made];
  }));
}

// Fields that are left empty are left out: the service has its own values for them.
function task(fields) {
  const made = { name: fields.get("name"), command: lines(fields.get("command")) };
  if (fields.get("features").trim()) made.features = pairs(fields.get("features"), Number);
  if (fields.get("requires").trim()) made.requires = pairs(fields.get("requires"), String);
  for (const name of ["slots", "priority", "min_success", "max_attempts", "time_limit"]) {
    if (fields.get(name) !== "") made[name] = Number(fields.get(name));
  }
  return made;
}

// Named fields as they are typed; those that are left empty are left out.
function typed(form) {
  const made = {};
  for (const field of form.elements) {
    if (!field.name || (field.type !== "checkbox" && field.value === "")) continue;
    if (field.type === "checkbox") made[field.name] = field.checked;
    else made[field.name] = field.type === "number" || "number" in field.dataset ? Number(field.value) : field.value;
  }
  return made;
}

// A scheduler's log with its settings; a name=number a line for slots and prices.
async function log(form) {
  const made = typed(form);
  const file = form.elements.file.files[0];
  const most = Number(form.dataset.most);
  if (file.size > most) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB; allowed: ${(most / 1e6).toFixed(0)} MB; what to do: send a part of it, or run walras shadow ${file.name}`);
  delete made.file;
  for (const name of ["slots", "prices"]) if (made[name]) made[name] = pairs(made[name], Number);
  return { ...made, name: file.name.slice(0, 200), log: await file.text() };
}

// The three tables of a round with its settings.
async function tables(form) {
  const made = typed(form), names = ["throughput", "jobs", "resources"];
  const files = names.map((name) => form.elements[name].files[0]);
  const size = files.reduce((sum, file) => sum + file.size, 0), most = Number(form.dataset.most);
  if (size > most) throw new Error(`the tables have ${(size / 1e6).toFixed(1)} MB; allowed: ${(most / 1e6).toFixed(1)} MB; what to do: run walras solve cluster`);
  const texts = await Promise.all(files.map((file) => file.text()));
  for (const name of names) delete made[name];
  return { ...made, name: files[0].name.slice(0, 200), tables: Object.fromEntries(names.map((name, k) => [name, texts[k]])) };
}

function bodyOf(form) {
  if (form.dataset.shape === "tables") return tables(form);
  if (form.dataset.shape === "log") return log(form);
  if (form.dataset.shape === "task") return task(new FormData(form));
  return form.dataset.shape === "fields" ? typed(form) : JSON.parse(form.dataset.body ?? "{}");
}

async function submit(form) {
  const [method, path] = form.dataset.api.split(" ");
  if (form.dataset.ask && !(await ask(form.dataset.ask))) return;
  const button = form.querySelector("button");
  const focused = document.activeElement === button;
  button.disabled = true;
  try {
    const found = await send(method, path, await bodyOf(form));
    const then = form.dataset.then?.replace(/\{(\w+)\}/g, (_, name) => found[name]);
    if (then) location.assign(then);
    else {
      if (!("quiet" in form.dataset)) note(`${button.textContent.trim()}: done.`);
      renew("now");
    }
  } catch (error) {
    note(error.message, true);
  } finally {
    button.disabled = false;
    if (focused && document.activeElement === document.body) button.focus();
  }
}

// A log's ending says which scheduler wrote it, as far as it can.
const ENDINGS = { csv: "csv", json: "kueue", jsonl: "kueue" };

export function sendForms() {
  document.addEventListener("change", (event) => {
    const field = event.target, choice = field.form?.querySelector("[data-by-file]");
    if (field.type !== "file" || !choice || !field.files.length) return;
    choice.value = ENDINGS[field.files[0].name.split(".").pop().toLowerCase()] ?? "slurm";
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-api]")) return;
    event.preventDefault();
    submit(event.target);
  });
}
