// Of rounds whose runs have ended: the makespan that was predicted, the one that was measured, and
// the part of the solver, which is certified.
export const regret = {
  empty: "No round is accounted for yet: its runs have to end first.",
  rows: (found) => found.items.filter((one) => one.regret?.prediction).reverse().map((one) => ({
    round: one.seq, predicted: one.regret.prediction.predicted, measured: one.regret.prediction.measured,
    prediction_error: one.regret.prediction.seconds, solver_at_most: one.regret.solver?.seconds ?? null,
  })),
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis" },
    xAxis: { ...base.axis, type: "category", data: rows.map((row) => row.round), name: "round", nameLocation: "middle", nameGap: 26 },
    yAxis: { ...base.axis, type: "value", name: "seconds" },
    series: [["predicted", palette.accent], ["measured", palette.warn]].map(([name, color]) => (
      { name, type: "line", data: rows.map((row) => row[name]), symbolSize: 5, itemStyle: { color }, lineStyle: { color } }
    )).concat({ name: "solver, at most", type: "bar", data: rows.map((row) => row.solver_at_most), itemStyle: { color: palette.soft } }),
  }),
};
