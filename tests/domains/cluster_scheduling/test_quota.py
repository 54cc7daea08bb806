"""Quotas of users."""

from __future__ import annotations

from walras.domains import cluster_scheduling as cs


def test_quota_of_users() -> None:
    quota = cs.Quota.of_users(["ann", "bob", "ann", "eve"], {"ann": 2.0, "bob": 1.0, "zoe": 5.0})
    assert quota == cs.Quota({"ann": [0, 2], "bob": [1]}, {"ann": 2.0, "bob": 1.0})
