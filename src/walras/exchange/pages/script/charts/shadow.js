// Shadow mode: what the policy would have changed, day by day, and where the jobs would have run.
const percent = (value) => `${(100 * value).toFixed(1)} %`;

const shadowchange = {
  empty: "The report is not there yet.",
  rows: (found) => (found.report?.measures ?? []).filter((one) => one.log > 0).reverse().map((one) => ({
    measure: one.measure, unit: one.unit, log: one.log, policy: one.policy,
    change: one.difference / one.log, low: one.low / one.log, high: one.high / one.log, bound: one.bound / one.log - 1,
  })),
  height: (rows) => 90 + 40 * rows.length,
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, right: 24, bottom: 28 },
    tooltip: { ...base.tooltip, formatter: ({ dataIndex }) => {
      const row = rows[dataIndex];
      return row ? `${row.measure}: ${percent(row.change)}\nfrom ${percent(row.low)} to ${percent(row.high)}\nno policy below ${percent(row.bound)}` : "";
    } },
    xAxis: { ...base.axis, type: "value", name: "change, share of the log", nameLocation: "middle", nameGap: 26, axisLabel: { ...base.axis.axisLabel, formatter: (value) => `${Math.round(100 * value)} %` } },
    yAxis: { ...base.axis, type: "category", data: rows.map((row) => row.measure), axisLine: { ...base.axis.axisLine, onZero: false } },
    series: [
      { name: "interval", type: "custom", data: rows.map((row, k) => [row.low, row.high, k]), encode: { x: [0, 1], y: 2 }, itemStyle: { color: palette.accent }, renderItem: (_, api) => {
        const [x1, y] = api.coord([api.value(0), api.value(2)]);
        const [x2] = api.coord([api.value(1), api.value(2)]);
        return { type: "line", shape: { x1, y1: y, x2, y2: y }, style: { stroke: palette.accent, lineWidth: 3 } };
      } },
      { name: "policy less log", type: "scatter", symbolSize: 11, data: rows.map((row, k) => [row.change, k]), itemStyle: { color: palette.accent } },
      { name: "bound", type: "scatter", symbol: "rect", symbolSize: [3, 20], data: rows.map((row, k) => [row.bound, k]), itemStyle: { color: palette.warn } },
    ],
  }),
};

const shadowdays = {
  empty: "The report is not there yet.",
  rows: (found) => found.report?.by_day ?? [],
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis", valueFormatter: (value) => `${Math.round(value)} s` },
    xAxis: { ...base.axis, type: "category", data: rows.filter((row) => row.side === "log").map((row) => row.day), name: "day of the replay", nameLocation: "middle", nameGap: 26 },
    yAxis: { ...base.axis, type: "value", name: "mean turnaround, seconds", nameTextStyle: { color: palette.soft, align: "left" } },
    series: [["log", palette.warn], ["policy", palette.accent]].map(([side, color]) => ({
      name: side, type: "line", symbolSize: 6, itemStyle: { color }, data: rows.filter((row) => row.side === side).map((row) => row.turnaround),
    })),
  }),
};

const shadowshares = {
  empty: "The report is not there yet.",
  rows: (found) => (found.report?.clusters ?? []).slice().reverse(),
  height: (rows) => 90 + 44 * rows.length,
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, right: 24, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis", valueFormatter: percent },
    xAxis: { ...base.axis, type: "value", name: "share of the jobs", nameLocation: "middle", nameGap: 26 },
    yAxis: { ...base.axis, type: "category", data: rows.map((row) => row.cluster) },
    series: [["log", "share_log", palette.warn], ["policy", "share_policy", palette.accent]].map(([name, field, color]) => ({
      name, type: "bar", barMaxWidth: 14, itemStyle: { color }, data: rows.map((row) => row[field]),
    })),
  }),
};

export const shadow = { shadowchange, shadowdays, shadowshares };
