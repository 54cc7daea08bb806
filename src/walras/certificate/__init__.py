"""Proof of an allocation: feasibility, repair, dual bound and gap, from x and prices alone.

Nothing here knows an engine. A :class:`Certificate` recomputes every figure from the problem's
data, so a wrong engine cannot make it lie, only make its gap large. The formulas are in
:mod:`.contribution`: what a slice adds, the whole problem being one slice.
"""

from walras.certificate.bound import DualBound, dual_bound
from walras.certificate.certify import (
    LEAST_TERMS,
    Certificate,
    certify,
    gap_between,
    minimised_value,
)
from walras.certificate.feasibility import row_violations, violation
from walras.certificate.repair import repair

__all__ = [
    "LEAST_TERMS",
    "Certificate",
    "DualBound",
    "certify",
    "dual_bound",
    "gap_between",
    "minimised_value",
    "repair",
    "row_violations",
    "violation",
]
