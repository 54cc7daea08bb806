"""Figures and the report; needs the extra ``walras[plot]``.

Every figure is a function of a tidy table, the one from which the printed tables come.
"""

from walras.plot.figures import (
    allocation_map,
    convergence,
    prices,
    throughput_distribution,
)
from walras.plot.frames import allocation_frame, history_frame, price_frame, throughput_frame
from walras.plot.report import Figure, Report, Section, Table, render, write
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
    "history_frame",
    "network_utilisation",
    "price_frame",
    "prices",
    "render",
    "served_frame",
    "throughput_distribution",
    "throughput_frame",
    "traffic_served",
    "utilisation_frame",
    "write",
]
