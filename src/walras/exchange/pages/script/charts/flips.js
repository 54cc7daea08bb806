// The decision map. A run whose time exceeded what the runner-up was predicted to take, or that
// failed, would have been placed elsewhere had it been known.
import { range } from "./scatter.js";

export const flips = {
  empty: "No run that had a runner-up has ended yet.",
  rows: (found) => found.items.filter((one) => one.predicted > 0 && one.seconds > 0 && one.runner_up_seconds > 0).map((one) => ({
    task: one.task, cluster: one.cluster, runner_up: one.runner_up, outcome: one.outcome,
    margin: one.runner_up_seconds / one.predicted, error: one.seconds / one.predicted,
    changed: one.seconds > one.runner_up_seconds,
  })),
  option: (rows, palette, base) => {
    const [low, high] = range(rows.flatMap((row) => [row.margin, row.error]));
    const axis = { ...base.axis, type: "log", min: low, max: high };
    const series = (name, changed, color) => ({ name, type: "scatter", symbolSize: 7, itemStyle: { color, opacity: 0.7 }, data: rows.filter((row) => row.changed === changed).map((row) => ({ value: [row.margin, row.error], row })) });
    const count = rows.filter((row) => row.changed).length;
    return {
      ...base,
      grid: { ...base.grid, bottom: 28 },
      legend: { ...base.legend, data: ["same placement", "another placement"], right: 0 },
      tooltip: { ...base.tooltip, formatter: ({ data }) => (data.row ? `${data.row.task} on ${data.row.cluster}\n${data.row.error.toPrecision(3)} times the predicted time\n${data.row.runner_up}: ${data.row.margin.toPrecision(3)} times` : "") },
      xAxis: { ...axis, name: "runner-up's predicted time, of the chosen cluster's", nameLocation: "middle", nameGap: 26 },
      yAxis: { ...axis, name: `measured, of predicted; ${count} of ${rows.length} changed`, nameTextStyle: { color: palette.soft, align: "left" } },
      series: [
        { type: "line", data: [[low, low], [high, high]], symbol: "none", silent: true, lineStyle: { color: palette.soft, type: "dashed" } },
        series("same placement", false, palette.accent), series("another placement", true, palette.bad),
      ],
    };
  },
};
