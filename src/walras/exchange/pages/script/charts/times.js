// Each run's time: predicted with its 90 % interval, and measured.
import { equal, range } from "./scatter.js";

export const times = {
  empty: "No run with a prediction has ended here yet.",
  rows: (found) => found.items.filter((one) => one.predicted > 0 && one.seconds > 0).map((one) => ({
    task: one.task, predicted: one.predicted, low: one.seconds_interval?.[0] ?? null, high: one.seconds_interval?.[1] ?? null,
    measured: one.seconds, outcome: one.outcome, predictor: one.predictor,
  })),
  option: (rows, palette, base) => {
    const [low, high] = range(rows.flatMap((row) => [row.predicted, row.measured]));
    const timed = rows.filter((row) => row.outcome === "completed" && row.low !== null && row.high !== null);
    const inside = timed.filter((row) => row.low <= row.measured && row.measured <= row.high).length;
    const axis = { ...base.axis, type: "log", min: low, max: high };
    const points = (good) => rows.filter((row) => (row.outcome === "completed") === good);
    const series = (name, chosen, color) => ({ name, type: "scatter", symbolSize: 7, itemStyle: { color, opacity: 0.7 }, data: chosen.map((row) => ({ value: [row.predicted, row.measured], row })) });
    return {
      ...base,
      grid: { ...base.grid, bottom: 28 },
      tooltip: { ...base.tooltip, formatter: ({ data }) => (data.row ? `${data.row.task}\npredicted ${data.row.predicted.toPrecision(3)} s${data.row.high === null ? "" : `, ${data.row.low.toPrecision(3)} to ${data.row.high.toPrecision(3)} s`}\nmeasured ${data.row.measured.toPrecision(3)} s, ${data.row.outcome}` : "") },
      xAxis: { ...axis, name: "predicted, s", nameLocation: "middle", nameGap: 26 },
      yAxis: { ...axis, name: timed.length ? `measured, s; ${inside} of ${timed.length} in their interval` : "measured, s", nameTextStyle: { color: palette.soft, align: "left" } },
      series: [
        { name: "interval", type: "custom", silent: true, data: timed.map((row) => [row.low, row.high, row.measured]), encode: { x: [0, 1], y: 2 }, renderItem: (_, api) => {
          const [from, y] = api.coord([Math.max(api.value(0), low), api.value(2)]);
          const [to] = api.coord([Math.min(api.value(1), high), api.value(2)]);
          return { type: "line", shape: { x1: from, y1: y, x2: to, y2: y }, style: { stroke: palette.line, lineWidth: 1.5 } };
        } },
        equal(low, high, palette), series("completed", points(true), palette.accent), series("failed", points(false), palette.bad),
      ],
      legend: { ...base.legend, data: ["completed", "failed"], right: 0 },
    };
  },
};
