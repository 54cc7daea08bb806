"""The problem bank: small problems with known answers that every engine must pass."""

from __future__ import annotations

from tests.bank import cluster, curved, impossible, linear, traffic, whole
from tests.bank.case import Case, Impossible

CASES: list[Case] = [*linear.cases(), *cluster.cases(), *curved.cases(), *traffic.cases()]
WHOLE: list[Case] = whole.cases()
INFEASIBLE: list[Impossible] = impossible.infeasible()
UNBOUNDED: list[Impossible] = impossible.unbounded()
