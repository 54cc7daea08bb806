// A reliability diagram: runs in groups of equal predicted chance, and the share that completed,
// with Wilson's 90 % interval.
const Z = 1.6449;

function wilson(good, count) {
  const share = good / count, z2 = Z * Z / count;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = Z * Math.sqrt(share * (1 - share) / count + z2 / (4 * count)) / (1 + z2);
  return [Math.max(middle - half, 0), Math.min(middle + half, 1)];
}

export const reliability = {
  empty: "No run with a predicted chance has ended here yet.",
  rows: (found) => {
    const groups = new Map();
    for (const one of found.items) {
      if (one.chance === null) continue;
      const k = Math.min(Math.floor(10 * one.chance), 9);
      const group = groups.get(k) ?? { runs: 0, good: 0, sum: 0 };
      group.runs += 1;
      group.good += one.outcome === "completed" ? 1 : 0;
      group.sum += one.chance;
      groups.set(k, group);
    }
    return [...groups].sort((a, b) => a[0] - b[0]).map(([, { runs, good, sum }]) => {
      const [low, high] = wilson(good, runs);
      return { predicted: sum / runs, completed: good / runs, low, high, runs };
    });
  },
  option: (rows, palette, base) => ({
    ...base,
    legend: { show: false },
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, formatter: ({ data }) => (data.row ? `predicted ${data.row.predicted.toFixed(3)}\ncompleted ${data.row.completed.toFixed(3)} of ${data.row.runs} runs` : "") },
    xAxis: { ...base.axis, type: "value", min: 0, max: 1, name: "predicted chance", nameLocation: "middle", nameGap: 26 },
    yAxis: { ...base.axis, type: "value", min: 0, max: 1, name: "share that completed", nameTextStyle: { color: palette.soft, align: "left" } },
    series: [
      { type: "line", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: palette.soft, type: "dashed" } },
      { type: "custom", silent: true, data: rows.map((row) => [row.predicted, row.low, row.high]), renderItem: (_, api) => {
        const [x, y1] = api.coord([api.value(0), api.value(1)]);
        const [, y2] = api.coord([api.value(0), api.value(2)]);
        return { type: "line", shape: { x1: x, y1, x2: x, y2 }, style: { stroke: palette.accent, lineWidth: 2 } };
      } },
      { type: "scatter", symbolSize: (_, { data }) => 7 + 3 * Math.log10(data.row.runs), itemStyle: { color: palette.accent }, data: rows.map((row) => ({ value: [row.predicted, row.completed], row })) },
    ],
  }),
};
