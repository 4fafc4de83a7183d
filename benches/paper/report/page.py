"""The page: an overview, a section for each experiment, and where the numbers come from."""

from __future__ import annotations

import os
from pathlib import Path

from ..store import Table
from . import fmri, misspecified, oracle, synthetic
from .summary import Results, table

EXPERIMENTS = ("scalability", "oracle", "misspecified", "fmri", "roc", "skewness", "criterion", "signs")

_PAGE = """\
# The paper's tables and figures, measured again

Dong, Uemura, Fujii, Chang, Koyanagi, Maruhashi and Sebag, *Learning Large Causal Structures from Inverse Covariance
Matrix via Sparse Matrix Decomposition*. This page repeats every measured table and figure of the paper, beside the
printed numbers (`benches/paper/printed.csv`, with table and row), from results stored in `benches/paper/results`.

```sh
pip install ".[bench]"
python -m benches.paper --quick                  # minutes; writes to results/paper-quick, not to this page
python -m benches.paper                          # everything; resumes where it was stopped
python -m benches.paper --only oracle --force    # one experiment, from its start
python -m benches.paper --page                   # this page and its figures from stored results
```

NetSim data are not part of this repository: `--data FOLDER`, or the variable `ICID_DATA`, names the folder of
`sim3.mat` and `sim4.mat`. The command writes this page; do not edit it by hand.

**Methods.** *ICID* and *O-ICID* are this package's implementation of the paper's method alone, from data and from the
true Θ. *elimination* is `eliminate` with the same input as O-ICID, and *GH18* is elimination given Θ only. `ICID()`
is the default of this package: nothing is chosen by hand or by the true graph. Rows of other methods (GES, fastGES,
LiNGAM) are the paper's printed numbers; only this package was run. SHD counts missing, extra and reversed edges.
Columns are in random order.

**Times.** One thread, medians of CPU seconds, with wall seconds in brackets. The machine was shared with other work,
which lengthens wall times: compare CPU seconds. The paper's times are from another machine (one CPU of a Xeon Gold
5120), so that only orders of magnitude are comparable.

## Overview

{overview}

{sections}

## Omitted

The paper's Table 4 lists kinds of random graphs without measurements. Its Figure 1 also shows NOTEARS, GOLEM and
fastGES, without printed numbers; `benches/peers` runs other methods.

## Runs

{runs}

`cells` counts the cells still to be measured when a run began. Where two runs name an experiment, the later one
continued it or, with `--force`, replaced it. Each section names its seeds and permutations, which determine every
random model and sample. """


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
