"""The figures, as PNG files: ours drawn through, the paper's printed numbers dashed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import printed
from .summary import Results, Row, column, deviation, distinct, mean, median, select

#: Colours that the colour-blind tell apart (Okabe and Ito), and markers for print without colours.
STYLE = {
    "ICID": ("#E69F00", "s"),
    "ICID (skew)": ("#0072B2", "^"),
    "O-ICID": ("#0072B2", "^"),
    "elimination": ("#009E73", "D"),
    "GH18": ("#56B4E9", "v"),
    "ICID()": ("#D55E00", "o"),
    "ICID() from data": ("#CC79A7", "P"),
}
PRINTED = {"O-ICID": "#0072B2", "GH18": "#56B4E9", "GES": "#000000", "fastGES": "#777777"}
#: What others are likely to run over is drawn wider.
WIDE = ("elimination", "ICID (skew)")


def draw_all(results: Results, folder: Path) -> None:
    """Draw what there are results for."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("the figures need Matplotlib: pip install 'icid_rs[bench]'") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "scalability": ("scalability", lambda: scalability(plt, results["scalability"])),
        "oracle-er": ("oracle", lambda: oracle(plt, results["oracle"], ("ER1", "ER2", "ER3"))),
        "oracle-sf": ("oracle", lambda: oracle(plt, results["oracle"], ("SF2", "SF4"))),
        "misspecified-er1": ("misspecified", lambda: misspecified(plt, results, "ER1")),
        "misspecified-er2": ("misspecified", lambda: misspecified(plt, results, "ER2")),
        "misspecified-er3": ("misspecified", lambda: misspecified(plt, results, "ER3")),
        "fmri": ("fmri", lambda: fmri(plt, results)),
        "skewness": ("roc", lambda: skewness(plt, results["roc"])),
        "criterion": ("criterion", lambda: criterion(plt, results["criterion"])),
    }
    for name, (experiment, draw) in figures.items():
        if results[experiment]:
            figure = draw()
            # Without the software's version, so that the same numbers give the same file.
            figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
            plt.close(figure)


def _style(method: str) -> dict[str, Any]:
    colour, marker = STYLE[method]
    width, size = (4.0, 7) if method in WIDE else (1.5, 5)
    return {"color": colour, "marker": marker, "linewidth": width, "markersize": size, "label": method}


def _band(
    axis: Any, x: Sequence[float], groups: Sequence[list[Row]], measure: str, method: str, scale: Any = 1
) -> None:
    """Means, and a band of one deviation."""
    scales = scale if isinstance(scale, list) else [scale] * len(groups)
    means = [mean(rows, measure) / by for rows, by in zip(groups, scales, strict=True)]
    spreads = [deviation(rows, measure) / by for rows, by in zip(groups, scales, strict=True)]
    axis.plot(x, means, **_style(method))
    low = [max(m - s, 0.0) for m, s in zip(means, spreads, strict=True)]
    high = [m + s for m, s in zip(means, spreads, strict=True)]
    axis.fill_between(x, low, high, color=STYLE[method][0], alpha=0.15, linewidth=0)


def _finish(figure: Any, axis: Any, columns: int) -> Any:
    """One legend for all panels, below them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def scalability(plt: Any, rows: list[Row]) -> Any:
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    sizes = distinct(rows, "d")
    x = [float(d) for d in sizes]
    for method in ("ICID", "O-ICID", "elimination", "ICID()"):
        groups = [select(rows, method=method, d=d) for d in sizes]
        axes[0].plot(x, [median(at, "cpu") for at in groups], **_style(method))
        _band(axes[1], x, groups, "shd", method, [mean(at, "edges") for at in groups])
        _band(axes[2], x, groups, "tpr", method)
    for axis, measure in zip(axes[1:], ("shd/edges below", "tpr above"), strict=True):
        bound = printed.numbers()["Figure 1, text", "ER1", "", "ICID", measure].value
        axis.axhline(bound, color=STYLE["ICID"][0], linestyle="--", label=f"ICID, printed: {measure.split()[-1]}")
    axes[0].set(yscale="log", ylabel="CPU seconds, median")
    axes[1].set(ylabel="SHD / edges", ylim=(-0.01, None))
    axes[2].set(ylabel="TPR", ylim=(0.75, 1.01))
    axes[1].legend(handles=axes[1].lines[-1:], fontsize=8)
    axes[2].legend(handles=axes[2].lines[-1:], fontsize=8)
    for axis in axes:
        axis.set(xscale="log", xlabel="number of variables d")
        axis.set_xticks(x, sizes, fontsize=8, rotation=45)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    figure.suptitle("ER1, n = 10 d, equal noise variances")
    return _finish(figure, axes[0], 4)


def oracle(plt: Any, rows: list[Row], graphs: Sequence[str]) -> Any:
    figure, axes = plt.subplots(2, len(graphs), figsize=(4 * len(graphs) + 0.5, 7), layout="constrained", sharex=True)
    rows = select(rows, d="50", cut="0.1")
    exponents = distinct(rows, "exponent")
    x = [float(exponent) for exponent in exponents]
    for k, graph in enumerate(graphs):
        for axis, measure in zip(axes[:, k], ("shd", "tpr"), strict=True):
            for method, colour in PRINTED.items():
                found = [printed.oracle(graph, exponent, method, measure) for exponent in exponents]
                known = [(at, number.value) for at, number in zip(x, found, strict=True) if number]
                if len(known) > 1 or method == "GES":
                    style = {"color": colour, "linestyle": "--", "marker": "x", "markersize": 4}
                    axis.plot(*zip(*known, strict=True), label=f"{method}, printed", **style)
            for method in ("GH18", "O-ICID", "ICID() from data", "elimination", "ICID()"):
                groups = [select(rows, graph=graph, exponent=exponent, method=method) for exponent in exponents]
                _band(axis, x, groups, measure, method)
            axis.grid(alpha=0.3)
        axes[0, k].set_yscale("symlog", linthresh=1)
        axes[0, k].set(title=graph, ylim=(-0.1, 2000))
        axes[1, k].set(ylim=(0, 1.05), xlabel="λ (0: equal variances, 1: standardised)")
    axes[0, 0].set_ylabel("SHD (linear below 1)")
    axes[1, 0].set_ylabel("TPR")
    figure.suptitle("|B| > 0.1")
    # The first graphs have every method but fastGES, the third has them all.
    return _finish(figure, axes[0, -1], 5 if len(graphs) == 3 else 4)


def misspecified(plt: Any, results: Results, graph: str) -> Any:
    rows = select(results["misspecified"], graph=graph, cut="0.1")
    exponents, sigmas = distinct(rows, "exponent"), distinct(rows, "sigma")
    shape = {"figsize": (max(2.9 * len(exponents), 8), 6.4), "layout": "constrained", "squeeze": False, "sharey": "row"}
    figure, axes = plt.subplots(2, len(exponents), **shape)
    x = [float(sigma) for sigma in sigmas]
    for k, exponent in enumerate(exponents):
        for axis, measure in zip(axes[:, k], ("shd", "tpr"), strict=True):
            for method in ("O-ICID", "elimination", "ICID()"):
                groups = [select(rows, exponent=exponent, sigma=sigma, method=method) for sigma in sigmas]
                _band(axis, x, groups, measure, method)
            for method in ("GH18", "ICID() from data"):
                at = select(results["oracle"], graph=graph, d="50", cut="0.1", exponent=exponent, method=method)
                if at:
                    axis.axhline(
                        mean(at, measure), color=STYLE[method][0], linestyle=":", label=f"{method}, not told D"
                    )
            name = "GES" if printed.oracle(graph, exponent, "GES", measure) else "fastGES"
            number = printed.oracle(graph, exponent, name, measure)
            axis.axhline(number.value, color=PRINTED[name], linestyle="--", label=f"{name}, printed")
            axis.set(xlabel="σ")
            axis.grid(alpha=0.3)
        axes[0, k].set_xscale("symlog", linthresh=0.01)
        axes[0, k].set_xticks([0.0, 0.01, 0.1, 0.4], ["0", "0.01", "0.1", "0.4"])
        axes[0, k].minorticks_off()
        axes[0, k].set_yscale("symlog", linthresh=1)
        axes[0, k].set(title=f"{graph}, λ = {exponent}", ylim=(-0.1, 1500), xlim=(-0.002, 0.5))
        axes[1, k].set(ylim=(0, 1.05))
    axes[0, 0].set_ylabel("SHD (linear below 1)")
    axes[1, 0].set_ylabel("TPR")
    figure.suptitle("|B| > 0.1")
    return _finish(figure, axes[0, 0], 6 if len(exponents) > 2 else 3)


def _curve(axis: Any, rows: list[Row], across: str, **style: Any) -> None:
    axis.plot(column(rows, across), column(rows, "tpr"), **style)


def fmri(plt: Any, results: Results) -> Any:
    datasets = distinct(results["fmri"], "data")
    figure, axes = plt.subplots(1, 1 + len(datasets), figsize=(4.4 + 3.8 * len(datasets), 4.2), layout="constrained")
    for axis, data in zip(axes, datasets, strict=False):
        for method in ("ICID", "ICID (skew)", "ICID()"):
            _curve(axis, select(results["roc"], data=data, method=method), "fpr", **_style(method))
        axis.set(title=f"fMRI {data}", xlabel="FPR", ylabel="TPR", ylim=(0, 1.05))
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    times = [(f"{method}, printed", "Sim4", None) for method in printed.methods("Table 1")]
    times += [(method, data, method) for data in datasets for method in ("ICID", "ICID (skew)", "ICID()")]
    labels, values, colours = [], [], []
    for label, data, method in reversed(times):
        labels.append(f"{label}, {data}")
        if method is None:
            values.append(printed.numbers()["Table 1", data, "", label.removesuffix(", printed"), "seconds"].value)
        else:
            values.append(statistics.median(column(select(results["fmri"], data=data, method=method), "cpu")))
        colours.append("#999999" if method is None else STYLE[method][0])
    axes[-1].barh(labels, values, color=colours)
    axes[-1].set(xscale="log", xlabel="seconds (ours: CPU; printed: another machine)", title="time")
    axes[-1].tick_params(axis="y", labelsize=8)
    axes[-1].grid(alpha=0.3, axis="x")
    return figure


def skewness(plt: Any, rows: list[Row]) -> Any:
    methods = [method for method in distinct(select(rows, data="Sim4"), "method") if method.startswith("λ₂")]
    shape = {"figsize": (11, 5.4), "layout": "constrained", "sharex": True, "sharey": True}
    figure, axes = plt.subplots(2, (len(methods) + 1) // 2, **shape)
    for axis in axes.flat[len(methods) :]:
        axis.set_axis_off()
    for axis, method in zip(axes.flat, methods, strict=False):
        curve = select(rows, data="Sim4", method=method)
        _curve(axis, curve, "fdr", color=STYLE["ICID (skew)"][0], marker=".", markersize=4)
        _curve(axis, curve[-1:], "fdr", color=STYLE["ICID()"][0], marker="o", linestyle="none", label="no cut")
        axis.set(title=method, ylim=(0, 1.05), xlabel="FDR")
        axis.tick_params(labelbottom=True)
        axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("TPR")
    axes.flat[0].legend(loc="lower right")
    figure.suptitle("fMRI Sim4, M̃ of standardised columns")
    return figure


def criterion(plt: Any, rows: list[Row]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True)
    for seed in distinct(rows, "seed"):
        own = select(rows, seed=seed, method="cut")
        cuts, chosen = column(own, "lambda1"), column(own, "chosen").index(1.0)
        values = column(own, "criterion")
        line = {"color": STYLE["ICID"][0], "alpha": 0.6, "linewidth": 1, "label": "one model each"}
        point = {"color": STYLE["ICID()"][0], "marker": "o", "linestyle": "none", "label": "chosen by C(λ₁)"}
        for axis, heights in zip(axes, (column(own, "distance"), [v - min(values) for v in values]), strict=True):
            axis.plot(cuts, heights, **line)
            axis.plot(cuts[chosen], heights[chosen], **point)
    tests = statistics.median(column(select(rows, method="tests"), "distance"))
    axes[0].axhline(tests, color=STYLE["elimination"][0], linestyle="--", label="tests (fdr_precision), median")
    axes[0].set(yscale="log", ylabel="pairs in one support only", title="distance to the true support")
    axes[1].set_yscale("symlog", linthresh=100)
    axes[1].set_yticks([0.0, 1e2, 1e3, 1e4, 1e5, 1e6])
    axes[1].set(ylabel="C(λ₁) above its minimum (linear below 100)", title="criterion", ylim=(-10, None))
    for axis in axes:
        axis.set_xlabel("λ₁")
        axis.grid(alpha=0.3)
    labels = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
    axes[0].legend(labels.values(), labels.keys(), fontsize=8)
    return figure
