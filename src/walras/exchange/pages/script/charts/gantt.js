// Runs of a round by cluster, one line a run that others do not overlap: what was predicted as an
// outline from the grant on, what was measured filled.
function lanes(rows) {
  const ends = new Map();
  for (const row of rows) {
    const of = ends.get(row.cluster) ?? [];
    const end = Math.max(row.measured_end ?? row.begin, row.predicted_end);
    let lane = of.findIndex((free) => free <= row.begin);
    if (lane < 0) lane = of.push(0) - 1;
    of[lane] = end;
    ends.set(row.cluster, of);
    row.lane = lane + 1;
  }
}

export const gantt = {
  empty: "None of its tasks was granted yet.",
  rows: (found) => {
    const granted = found.placements.filter((one) => one.granted !== null);
    const first = Math.min(...granted.map((one) => one.granted));
    const now = Date.now() / 1000;
    const rows = granted.map((one) => ({
      task: one.name, cluster: one.cluster, slots: one.slots, state: one.state, begin: one.granted - first,
      measured_end: one.ended === null ? (["leased", "running"].includes(one.state) ? now - first : null) : one.ended - first,
      predicted_end: one.granted - first + (one.predicted ?? 0),
    })).sort((a, b) => a.cluster.localeCompare(b.cluster) || a.begin - b.begin);
    lanes(rows);
    return rows;
  },
  height: (rows) => 80 + 22 * new Set(rows.map((row) => `${row.cluster} ${row.lane}`)).size,
  option: (rows, palette, base) => {
    const names = [...new Set(rows.map((row) => `${row.cluster}\u2009${row.lane}`))].reverse();
    const colour = (row) => (row.state === "succeeded" ? palette.good : ["leased", "running"].includes(row.state) ? palette.accent : palette.bad);
    const box = (api, from, to, style) => {
      const [x, y] = api.coord([from, api.value(0)]);
      const height = Math.max(api.size([0, 1])[1] * 0.66, 4);
      return { type: "rect", shape: { x, y: y - height / 2, width: Math.max(api.coord([to, 0])[0] - x, 1), height }, style };
    };
    return {
      ...base,
      legend: { show: false },
      grid: { ...base.grid, top: 8, bottom: 24 },
      tooltip: { ...base.tooltip, formatter: ({ dataIndex }) => {
        const row = rows[dataIndex];
        const took = row.measured_end === null ? "" : `\nmeasured ${(row.measured_end - row.begin).toFixed(1)} s`;
        return `${row.task}\n${row.cluster}, ${row.state}\npredicted ${(row.predicted_end - row.begin).toFixed(1)} s${took}`;
      } },
      xAxis: { ...base.axis, type: "value", name: "s", nameLocation: "end", min: 0 },
      yAxis: { ...base.axis, type: "category", data: names },
      series: [{
        type: "custom",
        encode: { x: [1, 2, 3], y: 0 },
        data: rows.map((row) => [names.indexOf(`${row.cluster}\u2009${row.lane}`), row.begin, row.predicted_end, row.measured_end ?? row.begin]),
        renderItem: ({ dataIndex }, api) => ({ type: "group", children: [
          box(api, api.value(1), api.value(3), { fill: colour(rows[dataIndex]), opacity: 0.75 }),
          box(api, api.value(1), api.value(2), { fill: "none", stroke: palette.text, lineWidth: 1 }),
        ] }),
      }],
    };
  },
};
