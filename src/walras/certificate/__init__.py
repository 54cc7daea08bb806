"""Proof of an allocation: feasibility, repair, dual bound and gap, from x and prices alone.

This package knows no engine. A :class:`Certificate` recomputes every figure from the problem's
data. A wrong engine can therefore make the gap large but not false. The formulas for a slice are in
:mod:`.contribution`; here the whole problem is one slice.
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
