"""Placement: tasks with CPU, memory and GPUs, or shares of one, on real machines.

    p = place(nodes, tasks)
    p.node, p.bound, p.gap, p.fragmentation, p.explain("task")

Nodes that are alike count as one kind and tasks that ask for the same as one type, so that the
bound, a linear program with patterns of GPUs, and the patterns of nodes that column generation
finds do not grow with their numbers.
"""

from walras.domains.placement.explain import Explanation
from walras.domains.placement.inputs import make_instance
from walras.domains.placement.instance import Instance
from walras.domains.placement.online import arrive
from walras.domains.placement.options import Options
from walras.domains.placement.place import place, solve_instance
from walras.domains.placement.result import Placed
from walras.domains.placement.tables import read_instance

__all__ = [
    "Explanation",
    "Instance",
    "Options",
    "Placed",
    "arrive",
    "make_instance",
    "place",
    "read_instance",
    "solve_instance",
]
