// Draw the charts of a page. Each is a function from what the API answered to rows (what the CSV
// has), and from rows to an option of ECharts; python.js has the lines that draw the same.
import { BarChart, CustomChart, GraphChart, LineChart, ScatterChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { send } from "./api.js";
import { allocation } from "./charts/allocation.js";
import { blockers } from "./charts/blockers.js";
import { flips } from "./charts/flips.js";
import { gantt } from "./charts/gantt.js";
import { network } from "./charts/network.js";
import { regret } from "./charts/regret.js";
import { reliability } from "./charts/reliability.js";
import { rounds } from "./charts/rounds.js";
import { shadow } from "./charts/shadow.js";
import { times } from "./charts/times.js";
import { clicked } from "./network.js";
import { python } from "./python.js";
import { tools } from "./tools.js";

echarts.use([BarChart, CustomChart, GraphChart, LineChart, ScatterChart, AriaComponent, DataZoomComponent,
  GridComponent, LegendComponent, TooltipComponent, CanvasRenderer]);

const KINDS = { blockers, flips, gantt, regret, reliability, rounds, times, ...allocation, ...network, ...shadow };
const drawn = new WeakMap();

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { text: of("text"), soft: of("soft"), line: of("line"), panel: of("panel"), accent: of("accent"), good: of("good"), bad: of("bad"), warn: of("warn") };
}

function base(palette) {
  const axis = { axisLine: { lineStyle: { color: palette.line } }, axisLabel: { color: palette.soft, hideOverlap: true }, splitLine: { lineStyle: { color: palette.line } }, nameTextStyle: { color: palette.soft } };
  return {
    animation: false,
    aria: { enabled: true },
    textStyle: { color: palette.text, fontFamily: "system-ui, sans-serif" },
    legend: { type: "scroll", top: 0, textStyle: { color: palette.soft }, pageTextStyle: { color: palette.soft }, pageIconColor: palette.accent },
    grid: { left: 8, right: 16, top: 50, bottom: 8, containLabel: true }, // legend, then the axes' names
    tooltip: { renderMode: "richText", confine: true, backgroundColor: palette.panel, borderColor: palette.line, textStyle: { color: palette.text } },
    axis,
  };
}

function empty(canvas, text) {
  const held = drawn.get(canvas);
  if (held) { held.chart.dispose(); drawn.delete(canvas); }
  const made = document.createElement("p");
  made.className = "empty";
  made.textContent = text;
  canvas.replaceChildren(made);
}

// Charts of one page that show the same answer ask for it once.
function asking() {
  const asked = new Map();
  return (path) => {
    if (!asked.has(path)) asked.set(path, send("GET", path));
    return asked.get(path);
  };
}

async function draw(figure, ask) {
  const kind = KINDS[figure.dataset.chart];
  const canvas = figure.querySelector(".canvas");
  let found, rows;
  try {
    found = await ask(figure.dataset.src.split("#")[0]);
    rows = kind.rows(found);
  } catch (error) {
    empty(canvas, `The data cannot be had: ${error.message}`);
    return;
  }
  if (rows.length === 0) {
    empty(canvas, kind.empty);
    return;
  }
  let held = drawn.get(canvas);
  if (!held) {
    canvas.replaceChildren();
    held = { chart: echarts.init(canvas) };
    drawn.set(canvas, held);
    held.chart.on("click", clicked);
    const fit = new ResizeObserver(() => {
      if (held.chart.isDisposed()) return;
      if (canvas.isConnected) held.chart.resize();
      else { fit.disconnect(); held.chart.dispose(); } // the page shows something else now
    });
    fit.observe(canvas);
  }
  const palette = colours();
  if (kind.height) canvas.style.height = `${kind.height(rows)}px`;
  held.chart.resize();
  held.chart.setOption(kind.option(rows, palette, base(palette), found), kind.live ? { replaceMerge: ["series"] } : { notMerge: true });
  held.rows = rows;
  tools(figure, held, () => python(figure));
}

export function drawAll() {
  const ask = asking();
  for (const figure of document.querySelectorAll("[data-chart]")) draw(figure, ask);
}
