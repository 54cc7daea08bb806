// Tasks placed and left, and the makespan, round by round.
export const rounds = {
  empty: "No round has ended yet.",
  rows: (found) => found.items.filter((one) => one.ended !== null).reverse().map((one) => ({
    round: one.seq, state: one.state, placed: one.counts.placed ?? 0,
    left: Math.max((one.counts.tasks ?? 0) - (one.counts.placed ?? 0), 0),
    makespan: one.makespan, bound: one.bound, gap: one.gap,
  })),
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis" },
    xAxis: { ...base.axis, type: "category", data: rows.map((row) => row.round), name: "round", nameLocation: "middle", nameGap: 26 },
    yAxis: [
      { ...base.axis, type: "value", name: "tasks" },
      { ...base.axis, type: "value", name: "seconds", splitLine: { show: false } },
    ],
    series: [
      { name: "placed", type: "bar", stack: "tasks", data: rows.map((row) => row.placed), itemStyle: { color: palette.accent } },
      { name: "left", type: "bar", stack: "tasks", data: rows.map((row) => row.left), itemStyle: { color: palette.line } },
      { name: "makespan", type: "line", yAxisIndex: 1, data: rows.map((row) => row.makespan), symbolSize: 5, itemStyle: { color: palette.warn } },
    ],
  }),
};
