"""The page: an overview, a section for each experiment, and where the numbers come from."""

from __future__ import annotations

import os
from pathlib import Path

from ..store import Table
from . import fmri, misspecified, oracle, synthetic
from .summary import Results, table

EXPERIMENTS = ("scalability", "oracle", "misspecified", "fmri", "roc", "skewness", "criterion", "signs")

_PAGE = """\
# The paper's tables and figures, and ours

Dong, Uemura, Fujii, Chang, Koyanagi, Maruhashi and Sebag, *Learning Large Causal Structures from Inverse Covariance
Matrix via Sparse Matrix Decomposition*. Every table and figure of it that holds measurements is made again here,
beside the numbers it prints (`benches/paper/printed.csv`, with table and row), from results stored in
`benches/paper/results`.

```sh
pip install ".[bench]"
python -m benches.paper --quick                  # minutes; writes to results/paper-quick, not to this page
python -m benches.paper                          # everything; goes on where it was ended
python -m benches.paper --only oracle --force    # one experiment, from its start
python -m benches.paper --page                   # this page and its figures from stored results
```

NetSim data are not part of this repository: `--data FOLDER`, or the variable `ICID_DATA`, says where `sim3.mat` and
`sim4.mat` are. This page is written by that command; do not edit it.

**Methods.** *ICID* and *O-ICID* are the paper's method alone, as this package has it: from data, and told the true Θ.
*elimination* is `eliminate`, told what O-ICID is told. *GH18* is elimination told Θ alone. `ICID()` is our default:
nothing is chosen by hand or by the true graph. Other methods' rows (GES, fastGES, LiNGAM) are the paper's printed
numbers; nothing but this package was run. SHD counts missing, extra and reversed edges. The order of the columns says
nothing of causes.

**Times.** One thread. The stored results were measured on a machine shared with other work, which stretches wall
seconds: compare CPU seconds; wall seconds are in brackets, medians of both. The paper's times are from another machine
(one CPU of a Xeon Gold 5120), so that only orders of magnitude compare.

## At a glance

{overview}

{sections}

## What is not here

The paper's Table 4 lists kinds of random graphs and measures nothing. Its Figure 1 also draws NOTEARS, GOLEM and
fastGES, for which it prints no numbers; `benches/peers` is where other methods are run.

## Where the numbers come from

{runs}

`cells` is what was left to measure when a run began; where two runs name an experiment, the later went on with it or,
by `--force`, replaced it. Seeds and permutations are named in each section; every random
model and sample follows from them.
"""


def load(folder: Path) -> Results:
    return {name: Table(folder / f"{name}.csv").rows() for name in (*EXPERIMENTS, "runs")}


def compose(results: Results, figures: Path, page: Path) -> str:
    """Write the page, whose links to the figures are relative to its own place."""
    folder = os.path.relpath(figures, page.parent).replace(os.sep, "/")
    overview = [
        *synthetic.overview(results),
        *oracle.overview(results),
        *misspecified.overview(results),
        *fmri.overview(results),
    ]
    sections = [
        synthetic.scalability(results, folder),
        oracle.section(results, folder),
        misspecified.section(results, folder),
        fmri.table1(results, folder),
        fmri.skewness(results, folder),
        synthetic.criterion(results, folder),
        synthetic.signs(results),
    ]
    runs = results["runs"]
    return _PAGE.format(
        overview=table(("", "printed", "the paper's method, here", "`ICID()`"), overview),
        sections="\n\n".join(sections),
        runs=table(list(runs[0]), [list(run.values()) for run in runs]) if runs else "Nothing has been measured.",
    )
