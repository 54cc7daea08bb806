// An allocation: value and bound by seconds, beside HiGHS; prices of the types.
const SOLVERS = [["Walras", "ours", "accent"], ["HiGHS", "highs", "warn"]];

// Far points of the first steps would press the rest flat: the axis is cut around where it ends.
function around(rows) {
  const last = rows.filter((row) => row.solver === "Walras").at(-1);
  const middle = last?.value ?? last?.bound;
  if (middle === null || middle === undefined) return {};
  const wide = Math.max(Math.abs(middle), 1e-12);
  return { min: middle - wide, max: middle + 2 * wide };
}

const closing = {
  empty: "The first step is not made yet.", live: true,
  rows: (found) => SOLVERS.flatMap(([solver, field]) => (found.result?.[field]?.points ?? []).map(([seconds, value, bound]) => ({ solver, seconds, value, bound }))),
  height: () => 360,
  option: (rows, palette, base) => ({
    ...base,
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, trigger: "axis", valueFormatter: (value) => (value === null || value === undefined ? "–" : Number(value).toPrecision(7)) },
    xAxis: { ...base.axis, type: "log", name: "seconds", nameLocation: "middle", nameGap: 26, axisLabel: { ...base.axis.axisLabel, formatter: (value) => `${Number(value.toPrecision(2))}` } },
    yAxis: { ...base.axis, type: "value", ...around(rows), axisLabel: { ...base.axis.axisLabel, formatter: (value) => `${Number(value.toPrecision(4))}` } },
    series: SOLVERS.flatMap(([solver, , color]) => ["value", "bound"].map((what) => ({
      name: `${solver}, ${what}`, type: "line", showSymbol: false, clip: true,
      itemStyle: { color: palette[color] },
      lineStyle: { color: palette[color], width: 2, type: what === "bound" ? "dashed" : "solid" },
      data: rows.filter((row) => row.solver === solver && row[what] !== null && row.seconds > 0).map((row) => [row.seconds, row[what]]),
    }))),
  }),
};

const prices = {
  empty: "There are no prices yet.",
  rows: (found) => [...(found.result?.prices ?? [])].filter((row) => row.price !== null).sort((a, b) => b.price - a.price),
  option: (rows, palette, base) => ({
    ...base,
    legend: { show: false },
    grid: { ...base.grid, bottom: 28 },
    tooltip: { ...base.tooltip, formatter: ({ dataIndex }) => `${rows[dataIndex].resource}\n${rows[dataIndex].price.toPrecision(4)} for one more\n${rows[dataIndex].used.toPrecision(5)} of ${rows[dataIndex].capacity.toPrecision(5)} used` },
    xAxis: { ...base.axis, type: "category", data: rows.map((row) => row.resource) },
    yAxis: { ...base.axis, type: "value", name: "price", nameTextStyle: { color: palette.soft, align: "left" } },
    series: [{ type: "bar", data: rows.map((row) => row.price), itemStyle: { color: palette.accent } }],
  }),
};

export const allocation = { closing, prices };
