"""The figures of docs/benchmarks/results.md."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from benches.peers.adapters import METHODS
from benches.peers.cases import SIZES, Case
from benches.peers.cells import cell, sizes
from benches.peers.report import OURS, PAGE
from benches.peers.runs import SECONDS

FOLDER = PAGE.parents[1] / "figures"
#: Okabe and Ito's colours, which all eyes tell apart; the marker tells methods of one colour apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^")
#: How far above the limit there is place for the methods that reached it.
STOPPED = 8
TITLES = {"raw": "raw, equal noise variances", "standardised": "standardised, unequal noise variances"}


def draw(runs: pd.DataFrame, folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        for name, figure in {"peers-time": time_by_size(runs), "peers-accuracy": accuracy_by_time(runs)}.items():
            # Without a version in the file, the same figure has the same bytes.
            figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
            plt.close(figure)


def style(method: str) -> dict[str, object]:
    """Ours is black and thick; the others go through colours, then markers."""
    if method == OURS:
        return {"color": "black", "marker": "D", "linewidth": 2.5, "markersize": 7, "zorder": 5}
    index = [name for name in METHODS if name != OURS].index(method)
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index // len(COLOURS)], "linewidth": 1.2}


def time_by_size(runs: pd.DataFrame) -> plt.Figure:
    """Processor time of ER2 fits. Those that reached the limit are stacked above it, where there is no scale."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), sharey=True, layout="constrained")
    for axes, (scaling, title) in zip(panels, TITLES.items(), strict=True):
        heights = dict.fromkeys(SIZES, 1.2 * SECONDS)
        for method in METHODS:
            cells = {case.d: cell(runs, method, case) for case in sizes(Case("ER", 2, 0, 0, scaling), SIZES)}
            points = {d: max(each.seconds, 1e-3) for d, each in cells.items() if each.status == "ok"}
            over = {d: heights[d] for d, each in cells.items() if each.status == "timeout"}
            line = style(method)
            reached = dict(sorted((points | over).items()))
            axes.plot(reached.keys(), reached.values(), label=method, **line)
            axes.plot(over.keys(), over.values(), linestyle="", marker=line["marker"], color="white",
                      markeredgecolor=line["color"], zorder=6)  # fmt: skip
            heights |= {d: 1.45 * height for d, height in over.items()}
        axes.axhspan(SECONDS, STOPPED * SECONDS, color="0.93", zorder=0, label=f"stopped at {SECONDS} s")
        axes.set(xscale="log", yscale="log", title=title, xlabel="variables d (n = 10 d samples)")
        axes.set_xticks(SIZES, [str(d) for d in SIZES])
        axes.set_yticks([10.0**power for power in range(-3, 3)])
        axes.set_ylim(top=STOPPED * SECONDS)
        axes.minorticks_off()
        axes.grid(color="0.92")
    panels[0].set_ylabel("processor time of the fit, seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle("Erdős–Rényi graphs with two edges per variable, Gaussian noise")
    return figure


def accuracy_by_time(runs: pd.DataFrame) -> plt.Figure:
    """Distance against time at 100 variables: below is closer, left is faster."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), sharex=True, layout="constrained")
    metrics = {"raw": ("shd", "structural Hamming distance"), "standardised": ("class_distance", "distance of classes")}
    for axes, (scaling, title) in zip(panels, TITLES.items(), strict=True):
        metric, label = metrics[scaling]
        for method in METHODS:
            each = cell(runs, method, Case("ER", 2, 100, 1000, scaling))
            # Methods that were not finished keep their place in the legend.
            seconds, distance = (max(each.seconds, 1e-3), each[metric]) if each.status == "ok" else ((), ())
            axes.plot(seconds, distance, label=method, **(style(method) | {"linestyle": "", "markersize": 8}))
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1)
        axes.set(title=title, xlabel="processor time of the fit, seconds", ylabel=f"{label}, pairs of variables")
        axes.set_ylim(-0.3, 3000)
        axes.set_yticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        axes.grid(color="0.92")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle("ER2, 100 variables, 200 edges, 1 000 samples: lower is closer, left is faster")
    return figure
