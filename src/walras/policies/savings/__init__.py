"""What no policy can beat: lower bounds on completion times and makespan of a trace."""

from __future__ import annotations

from walras.policies.savings.bound import SavingsBound, savings_bound

__all__ = ["SavingsBound", "savings_bound"]
