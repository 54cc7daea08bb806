"""Figures and the report; needs the extra ``plot``.

Every figure is a function of a tidy table, the one from which the printed tables come.
"""

from walras.plot.figures import (
    allocation_map,
    convergence,
    prices,
    throughput_distribution,
)
from walras.plot.frames import allocation_frame, history_frame, price_frame, throughput_frame
from walras.plot.learning import methods_by_setting, methods_by_size, training
from walras.plot.matching import matching, plan_frame
from walras.plot.policies import policies_compared
from walras.plot.prediction import predicted_against_measured, reliability_diagram
from walras.plot.rebalance import loads_figure, loads_frame, rounds_figure
from walras.plot.report import Figure, Report, Section, Table, render, write
from walras.plot.shadow import days_compared
from walras.plot.traffic import (
    network_utilisation,
    served_frame,
    traffic_served,
    utilisation_frame,
)

__all__ = [
    "Figure",
    "Report",
    "Section",
    "Table",
    "allocation_frame",
    "allocation_map",
    "convergence",
    "days_compared",
    "history_frame",
    "loads_figure",
    "loads_frame",
    "matching",
    "methods_by_setting",
    "methods_by_size",
    "network_utilisation",
    "plan_frame",
    "policies_compared",
    "predicted_against_measured",
    "price_frame",
    "prices",
    "reliability_diagram",
    "render",
    "rounds_figure",
    "served_frame",
    "throughput_distribution",
    "throughput_frame",
    "traffic_served",
    "training",
    "utilisation_frame",
    "write",
]
