"""One real scheduling round under six policies: who gets how much, and what is proved.

Run: python examples/policies_compared.py
"""
# ruff: noqa: T201 - an example prints

import walras as wl
from walras.domains.cluster_scheduling import rounds

cs = wl.domains.cluster_scheduling

# 150 jobs active at one moment of a real trace, on three GPU types (a labelled synthetic stand-in
# when the data are not there: see `walras data list`).
round_ = rounds.gavel(jobs=150, seed=1)
size, capacity = round_.size, round_.capacity

# Speeds of unlike jobs compare only in common units: 1 is what a job gets from an equal share.
throughput = cs.normalise(round_.throughput, size, capacity, per="share")

solved = {
    "max-min": wl.solve(cs.max_min(throughput, size, capacity)),
    "leximin": wl.solve(cs.leximin(throughput, size, capacity)),
    "proportional": wl.solve(cs.proportional_fairness(throughput, size, capacity)),
    "alpha = 2": wl.solve(cs.alpha_fair(throughput, size, capacity, alpha=2)),
}
allocations = {name: solution.x for name, solution in solved.items()}
allocations["greedy"] = cs.greedy(throughput, size, capacity)
allocations["equal share"] = cs.equal_share(throughput, size, capacity)

print(f"{round_.title} ({round_.source})")
print(f"{'policy':<14}{'least':>8}{'median':>8}{'mean':>8}{'log':>9}{'gap':>10}")
for name, x in allocations.items():
    judged = cs.evaluate(throughput, size, capacity, x)
    gap = f"{solved[name].gap:.1e}" if name in solved else "-"
    print(
        f"{name:<14}{judged.least:8.3f}{judged.median:8.3f}{judged.mean:8.3f}"
        f"{round(judged.log_fairness, 4) + 0.0:9.4f}{gap:>10}"
    )
