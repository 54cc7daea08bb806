// How many tasks each blocker kept from being placed.
export const blockers = {
  empty: "Every task that waited was placed.",
  rows: (found) => Object.entries(found.blockers).sort((a, b) => a[1] - b[1]).map(([blocker, tasks]) => ({ blocker, tasks })),
  height: (rows) => 70 + 30 * rows.length,
  option: (rows, palette, base) => ({
    ...base,
    legend: { show: false },
    grid: { ...base.grid, top: 8 },
    tooltip: { ...base.tooltip, trigger: "axis" },
    xAxis: { ...base.axis, type: "value", minInterval: 1 },
    yAxis: { ...base.axis, type: "category", data: rows.map((row) => row.blocker) },
    series: [{ name: "tasks", type: "bar", barMaxWidth: 20, data: rows.map((row) => row.tasks), itemStyle: { color: palette.accent } }],
  }),
};
