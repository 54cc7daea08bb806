"""Two rounds of a shared cluster: users' quotas, and a price on moving GPUs between rounds.

Run: python examples/quotas_and_churn.py
"""
# ruff: noqa: T201 - an example prints

import pandas as pd

import walras as wl

cs = wl.domains.cluster_scheduling

throughput = pd.DataFrame(
    {
        "train-a": [10.0, 6.0, 2.0],
        "train-b": [8.0, 6.0, 3.0],
        "tune-c": [4.0, 4.0, 4.0],
        "tune-d": [9.0, 3.0, 0.0],  # does not fit a K80
    },
    index=["V100", "P100", "K80"],
)
size = pd.Series({"train-a": 4, "train-b": 4, "tune-c": 1, "tune-d": 2})
capacity = pd.Series({"V100": 2, "P100": 2, "K80": 4})

# Ann and Bob belong to one lab, which holds at most 5 GPUs; Ann alone at most 3.
quota = cs.Quota(
    groups={"lab": ["train-a", "train-b"], "ann": ["train-a"]},
    limits={"lab": 5.0, "ann": 3.0},
)
first = wl.solve(cs.proportional_fairness(throughput, size, capacity, quota=quota))
print("round 1\n", first.frame().round(3), "\n")

# Next round: tune-d is gone, serve-e has come. Without a price on churn everything may move.
throughput = throughput.drop(columns="tune-d").assign(**{"serve-e": [5.0, 5.0, 1.0]})
size = size.drop("tune-d")
size["serve-e"] = 1
for churn in (0.0, 0.2):
    second = wl.solve(
        cs.proportional_fairness(
            throughput, size, capacity, quota=quota, previous=first.frame(), churn=churn
        )
    )
    kept = first.frame().reindex(columns=throughput.columns, fill_value=0.0)
    moved = ((second.frame() - kept).abs() * size).to_numpy().sum()
    print(f"round 2, churn price {churn}: {moved:.2f} GPUs given or taken")
    print(second.frame().round(3), "\n")
