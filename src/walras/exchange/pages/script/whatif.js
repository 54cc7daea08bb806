// What a cordon or a drain would do, played on what is stored now; nothing is published.
import { send } from "./api.js";
import { note } from "./notes.js";

const seconds = (value) => (value === null ? "none" : value < 60 ? `${value.toPrecision(2)} s` : value < 3600 ? `${(value / 60).toPrecision(2)} min` : `${(value / 3600).toPrecision(3)} h`);

const tasks = (count) => `${count} ${count === 1 ? "task" : "tasks"}`;

function line(list, text) {
  const made = document.createElement("li");
  made.textContent = text;
  list.append(made);
}

function show(place, uid, how, found) {
  const box = document.createElement("section");
  const head = document.createElement("h2");
  head.textContent = `If ${uid} were ${how}ed now`;
  const list = document.createElement("ul");
  const { slots, slotsUp, meanings } = place.dataset;
  const left = Number(slotsUp) - Number(slots);
  line(list, `${left} of the ${slotsUp} slots that are up would stay for new tasks.`);
  const others = found.moves.length + found.more;
  if (found.placed + others === 0) {
    line(list, `At this moment no round places anything, with ${uid} or without: ask again when slots are free and tasks wait.`);
  } else {
    line(list, `The next round would place ${tasks(found.placed)} and leave ${found.unplaced}.`);
    line(list, `Its makespan: ${seconds(found.figures.makespan)}, with ${uid} ${seconds(found.figures.makespan_before)}.`);
    line(list, `${tasks(others)} would go elsewhere or wait.`);
  }
  const words = JSON.parse(meanings);
  for (const [code, count] of Object.entries(found.blockers)) line(list, `${tasks(count)} would wait: ${words[code] ?? code}.`);
  box.append(head, list);
  place.replaceChildren(box);
}

export function answerWhatIf() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-whatif]");
    if (!button) return;
    const place = document.querySelector("[data-whatif-answer]");
    button.disabled = true;
    place.textContent = "Playing the round…";
    try {
      const { whatif: uid, how } = button.dataset;
      show(place, uid, how, await send("POST", "/v1/rounds:whatif", { [how]: [uid] }));
    } catch (error) {
      place.textContent = "";
      note(error.message, true);
    } finally {
      button.disabled = false;
    }
  });
}
