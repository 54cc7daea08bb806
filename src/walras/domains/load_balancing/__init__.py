"""Load balancing: an assignment of shards to servers with as few moves as possible.

    r = rebalance(loads, placement, band=0.1, memory=16)
    r.shares, r.transfers, r.moves, r.bound

The package has a bound that counts necessary moves without a solver, local search that reaches it
in most rounds, and HiGHS for small rounds and for replicas fixed in number or spread over zones. It
also has baselines, and the sequence of rounds on which POP and DeDe are measured.
"""

from walras.domains.load_balancing.baselines import estore, plain_program, pop_rebalance
from walras.domains.load_balancing.bound import counting_bound
from walras.domains.load_balancing.dede_scheme import dede_scheme
from walras.domains.load_balancing.evaluate import Evaluation, evaluate
from walras.domains.load_balancing.inputs import make_round
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.rebalance import Options, rebalance, solve_round
from walras.domains.load_balancing.result import Rebalanced, Transfer
from walras.domains.load_balancing.sequence import (
    RoundRecord,
    Rounds,
    first_round,
    play,
    round_loads,
)
from walras.domains.load_balancing.tables import read_round

__all__ = [
    "Evaluation",
    "Options",
    "Rebalanced",
    "Round",
    "RoundRecord",
    "Rounds",
    "Transfer",
    "counting_bound",
    "dede_scheme",
    "estore",
    "evaluate",
    "first_round",
    "make_round",
    "plain_program",
    "play",
    "pop_rebalance",
    "read_round",
    "rebalance",
    "round_loads",
    "solve_round",
]
