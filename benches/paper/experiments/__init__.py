"""What is measured, one module for each experiment of the paper.

Each module has ``KEYS``, the columns that tell its cells apart; ``cells(quick)``, all cells of a run; and
``run(cell)``, which makes the rows of one. A cell whose keys are stored is not run again.
"""

from __future__ import annotations

from . import criterion, fmri, misspecified, oracle, roc, scalability, signs, skewness

#: In the order of the page.
ALL = {
    "scalability": scalability,
    "oracle": oracle,
    "misspecified": misspecified,
    "fmri": fmri,
    "roc": roc,
    "skewness": skewness,
    "criterion": criterion,
    "signs": signs,
}
