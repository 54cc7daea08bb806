// A network in virtual time: who hears whom, shares in their boxes, the balance, bits, the objective.
const abs = (value) => (value === null || value === 0 ? null : Math.abs(value));
const history = (names) => (found) => found.history.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
const round = (base) => ({ ...base.axis, type: "value", name: "round", nameLocation: "middle", nameGap: 26, min: "dataMin", max: "dataMax" });
const line = (rows, name, color, more = {}) => ({ name: name.replace("_", " "), type: "line", showSymbol: false, data: rows.map((row) => [row.round, row[name]]), itemStyle: { color }, lineStyle: { color, width: 1.5 }, ...more });
const short = (value) => (value >= 1e9 ? `${value / 1e9} G` : value >= 1e6 ? `${value / 1e6} M` : value >= 1e3 ? `${value / 1e3} k` : `${value}`);
const empty = "No round was made yet: press Run.";

function colour(state, palette) {
  if (state === "running") return palette.accent;
  if (state === "waiting" || state === "ended") return palette.warn;
  return state === "settled" ? palette.soft : palette.bad;
}

const netgraph = {
  empty, live: true,
  rows: (found) => found.links.map((one) => ({ one: one.ends[0], other: one.ends[1], state: one.state, messages: one.messages, lost: one.lost, bits: one.bits })),
  height: () => Math.min(420, innerWidth),
  option: (rows, palette, base, found) => {
    const most = Math.max(...found.centres.map((one) => one.high ?? one.share), 1e-300);
    return {
      ...base,
      legend: { show: false },
      tooltip: { ...base.tooltip, formatter: ({ dataType, data }) => (dataType === "edge"
        ? `link ${data.row.one}–${data.row.other}: ${data.row.state}\n${data.row.messages} messages, ${data.row.lost} lost`
        : `centre ${data.row.centre}: ${data.row.state}\nshare ${data.row.share.toPrecision(4)} of ${data.row.low ?? "−∞"} to ${data.row.high ?? "∞"}\nlife ${data.row.life}`) },
      series: [{
        type: "graph", layout: "none", cursor: "pointer",
        label: { show: true, color: palette.panel, fontSize: 11, fontWeight: 700 },
        lineStyle: { width: rows.length > 100 ? 1.5 : 3, opacity: 1, curveness: 0 },
        emphasis: { scale: false, lineStyle: { width: 6 } },
        // places in hops are small: lines between them would be snapped to the axes
        data: found.centres.map((row) => ({
          id: String(row.centre), name: String(row.centre), x: 1000 * row.x, y: 1000 * row.y, row,
          symbolSize: 20 + 18 * Math.sqrt(Math.max(row.share, 0) / most),
          itemStyle: { color: colour(row.state, palette), borderColor: palette.text, borderWidth: row.state === "running" ? 0 : 1.5 },
        })),
        links: rows.map((row) => ({
          source: String(row.one), target: String(row.other), row,
          lineStyle: { color: row.state === "cut" ? palette.bad : row.state === "up" ? palette.soft : palette.line, type: row.state === "cut" ? "dashed" : "solid" },
        })),
      }],
    };
  },
};

const netshares = {
  empty, live: true,
  rows: (found) => found.centres.map(({ centre, state, low, share, high, best, held, life }) => ({ centre, state, low, share, high, optimum: best, held, life })),
  height: () => Math.min(420, innerWidth),
  option: (rows, palette, base) => ({
    ...base,
    legend: { show: false },
    grid: { ...base.grid, top: 24, bottom: 28 },
    tooltip: { ...base.tooltip, formatter: ({ dataIndex }) => {
      const row = rows[dataIndex];
      return `centre ${row.centre}: ${row.state}\nshare ${row.share.toPrecision(6)}\nbox ${row.low} to ${row.high}${row.optimum === null ? "" : `\noptimum ${row.optimum.toPrecision(6)}`}`;
    } },
    xAxis: { ...base.axis, type: "category", data: rows.map((row) => row.centre), name: "centre", nameLocation: "middle", nameGap: 26 },
    yAxis: { ...base.axis, type: "value", name: "CPU", min: 0 },
    series: [{
      type: "custom", encode: { x: 0, y: [1, 2, 3] },
      data: rows.map((row, k) => [k, row.low ?? 0, row.high ?? row.share, row.share]),
      renderItem: ({ dataIndex }, api) => {
        const row = rows[dataIndex], wide = Math.min(api.size([1, 0])[0] * 0.6, 22);
        const [x, top] = api.coord([api.value(0), api.value(2)]);
        const [, bottom] = api.coord([api.value(0), api.value(1)]);
        const [, y] = api.coord([api.value(0), api.value(3)]);
        const tick = row.optimum === null ? [] : [{ type: "line", shape: { x1: x - wide / 2, x2: x + wide / 2, y1: api.coord([0, row.optimum])[1], y2: api.coord([0, row.optimum])[1] }, style: { stroke: palette.text, lineWidth: 2 } }];
        return { type: "group", children: [
          { type: "rect", shape: { x: x - wide / 2, y: top, width: wide, height: bottom - top, r: 3 }, style: { fill: palette.line, stroke: palette.soft, lineWidth: 1, opacity: 0.7 } },
          ...tick,
          { type: "circle", shape: { cx: x, cy: y, r: Math.max(wide / 4, 3) }, style: { fill: colour(row.state, palette), stroke: palette.panel, lineWidth: 1 } },
        ] };
      },
    }],
  }),
};

const netaudit = {
  empty, live: true,
  rows: (found) => found.history.map((row) => ({ round: row.round, difference_quanta: row.audit, difference: row.audit * found.unit })),
  option: (rows, palette, base, found) => {
    const worst = Math.max(...rows.map((row) => Math.abs(row.difference_quanta)));
    const color = worst ? palette.bad : palette.good;
    return {
      ...base,
      legend: { show: false },
      grid: { ...base.grid, bottom: 28 },
      tooltip: { ...base.tooltip, trigger: "axis", formatter: ([{ data }]) => `round ${data[0]}\n${data[1]} quanta over or missing, at most` },
      xAxis: round(base),
      yAxis: { ...base.axis, type: "value", name: `quanta of ${found.unit.toPrecision(2)}; budget ${found.budget.toPrecision(6)}`, nameTextStyle: { color: palette.soft, align: "left" }, min: 0, max: Math.max(4, worst), minInterval: 1 },
      series: [line(rows, "difference_quanta", color, { step: "end", lineStyle: { color, width: 3 } })],
    };
  },
};

const PARTS = [["used", "accent"], ["idle", "line"], ["in_flight", "warn"], ["owed", "bad"]];
const netbudget = {
  empty, live: true,
  rows: history(["round", "used", "idle", "in_flight", "owed"]),
  option: (rows, palette, base, found) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis", valueFormatter: (value) => Number(value).toPrecision(5) },
    xAxis: round(base),
    yAxis: { ...base.axis, type: "value", name: "CPU", min: 0, max: found.budget, axisLabel: { ...base.axis.axisLabel, showMaxLabel: false } },
    series: PARTS.map(([name, color]) => line(rows, name, palette[color], { stack: "budget", areaStyle: { color: palette[color], opacity: 0.75 }, lineStyle: { width: 0 } })),
  }),
};

const netbits = {
  empty, live: true,
  rows: history(["round", "bits", "lost", "leased"]),
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis" },
    xAxis: round(base),
    yAxis: [
      { ...base.axis, type: "value", name: "bits", axisLabel: { ...base.axis.axisLabel, formatter: short } },
      { ...base.axis, type: "value", name: "messages", splitLine: { show: false }, minInterval: 1, axisLabel: { ...base.axis.axisLabel, formatter: short } },
    ],
    series: [line(rows, "bits", palette.accent), line(rows, "lost", palette.bad, { name: "messages lost", yAxisIndex: 1 })],
  }),
};

const netgap = {
  empty, live: true,
  rows: history(["round", "gap", "loss_gap", "consensus"]),
  option: (rows, palette, base, found) => {
    const named = [["gap", "cost above the least", "accent"], ["loss_gap", "loss above the least", "warn"], ["consensus", "models apart", "soft"]];
    return {
      ...base,
      grid: { ...base.grid, bottom: 28 },
      tooltip: { ...base.tooltip, trigger: "axis", valueFormatter: (value) => (value === null || value === undefined ? "–" : Number(value).toExponential(2)) },
      xAxis: round(base),
      yAxis: { ...base.axis, type: "log", axisLabel: { ...base.axis.axisLabel, formatter: (value) => value.toExponential(0) } },
      series: named.slice(0, found.learns ? 3 : 1).map(([name, word, color]) => line(rows.map((row) => ({ round: row.round, [name]: abs(row[name]) })), name, palette[color], { name: word })),
    };
  },
};

export const network = { netaudit, netbits, netbudget, netgap, netgraph, netshares };
