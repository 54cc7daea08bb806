// What charts of points share: logarithmic axes, a line on which both are equal.
export function equal(low, high, palette) {
  return { name: "equal", type: "line", data: [[low, low], [high, high]], symbol: "none", silent: true, lineStyle: { color: palette.soft, type: "dashed" }, tooltip: { show: false } };
}

export function range(values) {
  const low = Math.min(...values), high = Math.max(...values);
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
}
