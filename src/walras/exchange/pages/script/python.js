// The lines of Python that draw what a chart shows; tests run them.
const HEAD = (url) => `from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import walras as wl

token = Path("my.token").read_text().strip()
with wl.exchange.Client("${url}", token) as client:
    `;
const FRAME = "frame = pd.DataFrame([one.model_dump() for one in found])\n";
const NETWORK = (src) => `found = client.networks.get("${src.split("/")[3].split("#")[0]}")
`;
const SHADOW = (src) => `report = client.shadows.get("${src.split("/")[3].split("#")[0]}").report
`;
const ALLOCATION = (src) => `found = client.allocations.get("${src.split("/")[3].split("#")[0]}").result
`;
const PAST = "frame = pd.DataFrame([row.model_dump() for row in found.history])\n";
const argument = (src, name) => new URL(src, location.origin).searchParams.get(name);

const BODIES = {
  rounds: () => `found = [one for one in client.rounds.list(most=100) if one.ended]
${FRAME}counts = pd.json_normalize(frame.counts)
plt.bar(frame.seq, counts.placed, label="placed")
plt.bar(frame.seq, counts.tasks - counts.placed, bottom=counts.placed, label="left")
plt.xlabel("round")
plt.ylabel("tasks")
plt.legend()
plt.twinx().plot(frame.seq, frame.makespan, color="black")
`,
  regret: () => `found = [one for one in client.rounds.list(most=100) if one.regret and one.regret["prediction"]]
frame = pd.json_normalize([one.model_dump() for one in found])
plt.plot(frame.seq, frame["regret.prediction.predicted"], label="predicted")
plt.plot(frame.seq, frame["regret.prediction.measured"], label="measured")
plt.plot(frame.seq, frame["regret.solver.seconds"], label="solver, at most")
plt.xlabel("round")
plt.ylabel("seconds")
plt.legend()
`,
  gantt: (src) => `found = client.rounds.get(${src.split("/")[3].split("?")[0]}).placements
${FRAME}frame = frame.dropna(subset=["granted"])
end = frame.ended.fillna(frame.granted + frame.predicted)
plt.barh(frame.cluster, end - frame.granted, left=frame.granted - frame.granted.min(), alpha=0.5)
plt.xlabel("seconds since the first grant")
`,
  blockers: (src) => `found = client.rounds.get(${src.split("/")[3].split("?")[0]}).blockers
plt.barh(list(found), list(found.values()))
plt.xlabel("tasks")
`,
  times: (src) => `found = client.predictors.runs("${argument(src, "cluster")}", most=500)
${FRAME}frame = frame.dropna(subset=["predicted", "seconds"])
plt.loglog(frame.predicted, frame.seconds, ".")
plt.loglog(frame.predicted.agg(["min", "max"]), frame.predicted.agg(["min", "max"]))
plt.xlabel("predicted seconds")
plt.ylabel("measured seconds")
`,
  reliability: (src) => `found = client.predictors.runs("${argument(src, "cluster")}", most=500)
${FRAME}frame = frame.dropna(subset=["chance"])
group = (10 * frame.chance).clip(upper=9).astype(int)
good = (frame.outcome == "completed").groupby(group).mean()
plt.plot(frame.chance.groupby(group).mean(), good, "o")
plt.axline((0, 0), slope=1)
plt.xlabel("predicted chance")
plt.ylabel("share that completed")
`,
  netgraph: (src) => `${NETWORK(src)}at = {one.centre: (one.x, one.y) for one in found.centres}
for link in found.links:
    (x, y), (u, v) = (at[end] for end in link.ends)
    plt.plot([x, u], [y, v], color="red" if link.state == "cut" else "gray", zorder=1)
for one in found.centres:
    plt.scatter(*at[one.centre], s=40 + 40 * one.share, zorder=2)
    plt.annotate(one.centre, at[one.centre])
plt.axis("equal")
`,
  netshares: (src) => `${NETWORK(src)}frame = pd.DataFrame([one.model_dump() for one in found.centres])
plt.bar(frame.centre, frame.high - frame.low, bottom=frame.low, alpha=0.3, label="box")
plt.plot(frame.centre, frame.share, "o", label="share")
plt.plot(frame.centre, frame.best, "_", label="optimum")
plt.xlabel("centre")
plt.ylabel("CPU")
plt.legend()
`,
  netaudit: (src) => `${NETWORK(src)}${PAST}plt.plot(frame["round"], frame.audit)
plt.xlabel("round")
plt.ylabel(f"quanta of {found.unit:.2g} over or missing")
`,
  netbudget: (src) => `${NETWORK(src)}${PAST}parts = ["used", "idle", "in_flight", "owed"]
plt.stackplot(frame["round"], frame[parts].T, labels=parts)
plt.xlabel("round")
plt.ylabel("CPU")
plt.legend()
`,
  netbits: (src) => `${NETWORK(src)}${PAST}plt.plot(frame["round"], frame.bits)
plt.xlabel("round")
plt.ylabel("bits sent")
`,
  netgap: (src) => `${NETWORK(src)}${PAST}for name in ("gap", "loss_gap", "consensus"):
    plt.semilogy(frame["round"], frame[name].astype(float).abs(), label=name)
plt.xlabel("round")
plt.legend()
`,
  closing: (src) => `${ALLOCATION(src)}for name, run in (("Walras", found.ours), ("HiGHS", found.highs)):
    if run is not None:
        frame = pd.DataFrame(run.points, columns=["seconds", "value", "bound"])
        (line,) = plt.semilogx(frame.seconds, frame.value, label=f"{name}, value")
        plt.semilogx(frame.seconds, frame.bound, "--", color=line.get_color(), label=f"{name}, bound")
if found.ours.value:
    plt.ylim(0, 3 * abs(found.ours.value))
plt.xlabel("seconds")
plt.legend()
`,
  prices: (src) => `${ALLOCATION(src)}frame = pd.DataFrame([one.model_dump() for one in found.prices]).sort_values("price")
plt.barh(frame.resource, frame.price)
plt.xlabel("price of one more")
`,
  shadowchange: (src) => `${SHADOW(src)}frame = pd.DataFrame([one.model_dump() for one in report.measures])
frame = frame[frame.log > 0]
share = frame[["difference", "low", "high"]].div(frame.log, axis=0)
reach = [share.difference - share.low, share.high - share.difference]
plt.errorbar(share.difference, frame.measure, xerr=reach, fmt="o", capsize=4)
plt.plot(frame.bound / frame.log - 1, frame.measure, "|", label="bound")
plt.axvline(0)
plt.xlabel("policy less log, share of the log")
plt.legend()
`,
  shadowdays: (src) => `${SHADOW(src)}frame = pd.DataFrame([one.model_dump() for one in report.by_day])
for side, rows in frame.groupby("side"):
    plt.plot(rows.day, rows.turnaround, "o-", label=side)
plt.xlabel("day of the replay")
plt.ylabel("mean turnaround, seconds")
plt.legend()
`,
  shadowshares: (src) => `${SHADOW(src)}frame = pd.DataFrame([one.model_dump() for one in report.clusters]).set_index("cluster")
frame[["share_log", "share_policy"]].plot.barh(ax=plt.gca())
plt.xlabel("share of the jobs")
`,
  flips: () => `found = client.predictors.runs(most=500)
${FRAME}frame = frame.dropna(subset=["predicted", "seconds", "runner_up_seconds"])
plt.loglog(frame.runner_up_seconds / frame.predicted, frame.seconds / frame.predicted, ".")
ends = (frame.runner_up_seconds / frame.predicted).agg(["min", "max"])
plt.loglog(ends, ends)
plt.xlabel("runner-up: its predicted time, of the chosen cluster's")
plt.ylabel("measured time, of the predicted one")
`,
};

export function python(figure) {
  return HEAD(location.origin) + BODIES[figure.dataset.chart](figure.dataset.src) + "plt.show()\n";
}
