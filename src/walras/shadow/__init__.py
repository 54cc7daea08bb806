"""Shadow mode: what the exchange would have done with a scheduler's own log, and how sure that is.

log = read_jobs("jobs.txt", "slurm")
print(compare(log).frame())
"""

from __future__ import annotations

from walras.data.synthetic.scheduler_log import SyntheticLog, synthetic_log
from walras.shadow.comparison import compare
from walras.shadow.jobs import JobLog
from walras.shadow.measures import MEASURES
from walras.shadow.reading import SCHEDULERS, read_jobs
from walras.shadow.result import Shadow

__all__ = [
    "MEASURES",
    "SCHEDULERS",
    "JobLog",
    "Shadow",
    "SyntheticLog",
    "compare",
    "read_jobs",
    "synthetic_log",
]
