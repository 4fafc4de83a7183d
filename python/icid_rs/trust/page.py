"""`ICID.report`: a page about a fit, for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from icid_rs._util.validation import listed
from icid_rs._util.words import agree, count
from icid_rs.graph.edges import Edge, list_edges
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.report import Assumption, FitReport, ShapeChoice
from icid_rs.trust.check.fit_indices import FitIndices
from icid_rs.trust.page_text import Report
from icid_rs.trust.shapes import TABLE_DEPENDENT

_WIDTH = 110
#: Edges of each group, and steps, that are shown.
_MOST_EDGES, _MOST_WEAK, _MOST_STEPS = 8, 4, 5
#: Columns that are named with what was done to them.
_MOST_COLUMNS = 40
#: An edge is weak if its weight in standard deviations is smaller, or fewer resamples join the two columns.
_WEAK, _SELDOM = 0.1, 0.8
#: With so many failed assumptions the graph as a whole is doubtful.
_MANY_FAULTS = 3
#: Faults of the table itself, to be mended before all others.
_MENDED_FIRST = frozenset(
    {"every number is a measurement", "no single row stands apart", "no column numbers or sorts the rows"}
)
_MARKS = {"pass": "pass", "doubt": "DOUBT", "fail": "FAIL"}
_REASONS = {
    "compelled": "from the pattern of correlations",
    "shape": "from the shape of the scatter",
    "variance": "from the amount of scatter, which depends on units",
    "knowledge": "you said so",
}


@dataclass(frozen=True)
class Page:
    """What the page is made of.

    Attributes
    ----------
    graph : NamedGraph
    report : FitReport
    checks : sequence of Assumption
    fit : FitIndices or None
    rows : int or None
        Rows that were used; None if an inverse covariance was given.
    is_thorough : bool
        Whether all checks were made, not only those of every fit.
    """

    graph: NamedGraph
    report: FitReport
    checks: Sequence[Assumption]
    fit: FitIndices | None
    rows: int | None
    is_thorough: bool

    def text(self) -> Report:
        """Compose the page."""
        sections = {
            "IN SHORT": self._summary(),
            "THE TABLE": self._table(),
            "DOES THE TABLE LOOK AS THE METHOD NEEDS IT?": self._assumptions(),
            "HOW THE GRAPH WAS CHOSEN": self._choices(),
            "WHAT WAS FOUND": self._found(),
            "HOW WELL IT FITS": self._fit(),
            "WHAT TO DO NEXT": self._next(),
        }
        lines: list[str] = []
        for title, content in sections.items():
            lines += [*([""] if lines else []), title, *content]
        return Report("\n".join(lines))

    def _violated(self) -> list[Assumption]:
        return [check for check in self.checks if check.verdict != "pass"]

    def _summary(self) -> Iterator[str]:
        groups = self._groups()
        failed = sum(check.verdict == "fail" for check in self.checks)
        sure, doubtful, weak = (len(groups[key]) for key in ("sure", "open", "weak"))
        counts = f"{count(sure, 'relation')} with a direction, {doubtful} without, {weak} weak."
        if not failed:
            advice = "Nothing in the table speaks against what the method assumes." if self.checks else ""
            if self.checks and not self.is_thorough:
                advice = "Nothing that a fit looks at speaks against the method; model.report(table) looks at more."
        elif failed < _MANY_FAULTS:
            advice = "Mend what is marked FAIL where you can, fit again, and believe what stays."
        else:
            advice = (
                f"The table departs from what the method assumes in {failed} ways: take the graph for a list of "
                "questions, not of answers."
            )
        yield from _wrapped(f"  {counts} {advice}", 2)

    def _table(self) -> Iterator[str]:
        d = self.graph.n_features_in_
        if self.rows is None:
            yield f"  {d} columns, known by their relations only: there were no rows that could be looked at."
            return
        yield f"  {count(self.rows, 'row')} and {count(d, 'column')} were used."
        missing = self.report.sample.missing
        if missing is not None and missing.entries:
            treated = "left out" if missing.policy == "drop" else "used as far as they go"
            worst = sorted(missing.columns, key=lambda name: -missing.columns[name])
            text = (
                f"{missing.incomplete} of {missing.rows} rows have missing values and were {treated}; most are missing "
                f"in {listed([str(name) for name in worst], 3)}."
            )
            yield from _wrapped(f"  {text}", 2)
        if self.report.categories:
            levels = [f"{name} ({count} levels)" for name, count in self.report.categories.items()]
            yield from _wrapped(f"  Taken as categories: {listed(levels, _MOST_COLUMNS)}.", 2)
        if self.report.codes:
            codes = [f"{name} ({_coded(levels)})" for name, levels in self.report.codes.items()]
            yield from _wrapped(f"  Made numbers: {listed(codes, _MOST_COLUMNS)}.", 2)
        if self.report.dropped:
            reasons = [f"{name} ({reason})" for name, reason in self.report.dropped.items()]
            yield from _wrapped(f"  Left out: {listed(reasons, _MOST_COLUMNS)}.", 2)
        yield from self._transforms()
        if self.report.sample.groups is not None:
            yield f"  Differences between the averages of {self.report.sample.groups} groups were taken out first."
        if self.report.sample.adjusted is not None:
            adjusted = listed([repr(name) for name in self.report.sample.adjusted.columns], 8)
            yield from _wrapped(f"  What {adjusted} explain of the other columns was taken out first.", 2)

    def _transforms(self) -> Iterator[str]:
        choice = self.report.transform
        if not choice.columns:
            return
        names = {"normal-scores": "normal scores", "log": "logarithms"}
        by_kind = [
            f"{names[kind]} of {listed([str(name) for name, own in choice.columns.items() if own == kind], 5)}"
            for kind in sorted(set(choice.columns.values()))
        ]
        why = "as was asked"
        if choice.dependence is not None and choice.transformed is not None:
            why = (
                "straight lines fit these, but not the columns as they are: what causes leave unexplained depends on "
                f"them by {max(choice.transformed, 0.0):.2f} instead of {choice.dependence:.2f} (0: not at all)"
            )
        yield from _wrapped(f"  Used in place of columns: {'; '.join(by_kind)}; {why}.", 2)
        yield "  Weights are in the units of the table: average slopes of curves."

    def _assumptions(self) -> Iterator[str]:
        passed = [check.name for check in self.checks if check.verdict == "pass"]
        for check in sorted(self.checks, key=lambda check: ("fail", "doubt", "pass").index(check.verdict)):
            if check.verdict == "pass":
                continue
            yield from _wrapped(f"{_MARKS[check.verdict]:>5}  {check.name}: {check.finding}", 9)
            if len(check.where) > 1 or (check.where and check.where[0] not in check.finding):
                yield from _wrapped(f"       {listed(list(check.where), 2)}", 9)
        if passed:
            yield from _wrapped(f" pass  {'; '.join(passed)}", 7)
        if not self.checks:
            every = len(self.report.categories) == self.graph.n_features_in_
            yield f"  There were no {'numbers' if every else 'rows'} to look at."

    def _choices(self) -> Iterator[str]:
        noise = {
            "equal": "Every column has the same amount of scatter that its causes do not explain: this fits the data, "
            "and tells directions. It is only right if all columns are in the same unit.",
            "unequal": "Columns may differ in the scatter that their causes do not explain.",
            "known": "The scatter that causes do not explain was given.",
        }
        yield from _wrapped(f"  - {noise[self.report.noise]}", 4)
        yield from self._measurement()
        choices = self.report.choices
        if choices is None:
            return
        if choices.residuals is not None and not self.report.categories:
            yield from _wrapped(f"  - {self._shapes(choices.residuals)}", 4)
        refinement = self.report.refinement
        if refinement is not None and (pairs := refinement.details.get("unconfirmed")):
            shown = listed([f"{a} and {b}" for a, b in pairs], 3)
            text = f"{len(pairs)} pairs of columns are not joined: tables of their levels show no relation ({shown})."
            yield from _wrapped(f"  - {text}", 4)
        price = choices.penalty
        if self.rows is not None and self.rows > 1:
            least = np.sqrt(1 - np.exp(-price.value / self.rows))
            text = (
                f"Two columns are joined if they correlate by more than about {least:.2f}, the other causes held fixed."
            )
            if price.inflation > 1.1:
                text += f" This bar was raised {price.inflation:.1f} times because unjoined columns correlate too."
            elif price.measured > 1.5:
                text += (
                    f" Unjoined columns still correlate {price.measured:.1f} times more than chance explains: "
                    "expect false edges."
                )
            yield from _wrapped(f"  - {text}", 4)

    def _shapes(self, residuals: ShapeChoice) -> str:
        """Say whether the shape of residuals helped to choose the graph, and whether directions rest on it."""
        found = self.report.measurement
        if not residuals.counts:
            if found.hidden or found.error:
                return "The shape of the scatter was not used: hidden causes and errors of measurement change it."
            return "Scatter is close enough to bell-shaped that it tells no directions."
        text = (
            f"The scatter of {count(len(residuals.shaped), 'column')} is not bell-shaped, and this helped to choose "
            "the graph."
        )
        directions = self.report.claims.directions
        if directions.get("shape") or not directions.get("open"):
            return f"{text} Directions that rest on it are marked."
        depends = (self.report.claims.dependence or 0.0) >= TABLE_DEPENDENT
        why = ", since what is left of columns depends on their causes" if depends else ""
        return f"{text} No direction is claimed by it{why}."

    def _measurement(self) -> Iterator[str]:
        """Say what was taken out of the graph: most of what there is to know about it, where there is such a thing."""
        found = self.report.measurement
        if found.hidden:
            strongest = listed([str(name) for name in found.strongest], 5)
            fits, was = agree(found.hidden, "fits", "fit"), agree(found.hidden, "was", "were")
            text = (
                f"{count(found.hidden, 'hidden cause')} of many columns {fits} better than edges between these, and "
                f"{was} taken out of the graph (most of all out of {strongest}). "
            )
            if found.edges_without is not None:
                text += f"Without, it has {count(found.edges_without, 'edge')}: hidden=None shows them. "
            text += "Which of the two is right, the data cannot tell for sure: look whether you know such a cause."
            yield from _wrapped(f"  - {text}", 4)
        if found.error:
            text = f"{found.error:.0%} of the scatter of columns, on average, was taken for error of measurement."
            yield from _wrapped(f"  - {text}", 4)

    def _groups(self) -> dict[str, list[Edge]]:
        """Edges in three groups, strongest first."""
        carried = next((check.where for check in self.checks if check.name == "no edge rests on one row"), ())
        groups: dict[str, list[Edge]] = {"sure": [], "open": [], "weak": []}
        graph = self.graph
        for edge in list_edges(graph.adjacency_matrix_, graph.names_, graph.evidence_, graph.confidence_):
            joined = min(_known(edge.joined, 1.0), _known(edge.confidence, 1.0))
            small = abs(_known(edge.standardised, 1.0)) < _WEAK
            alone = any(place.startswith(f"{edge.source} → {edge.target} ") for place in carried)
            if small or joined < _SELDOM or alone:
                groups["weak"].append(edge)
            else:
                groups["open" if edge.direction == "open" else "sure"].append(edge)
        return groups

    def _found(self) -> Iterator[str]:
        groups = self._groups()
        if not any(groups.values()):
            yield "  No column is related to another."
            return
        yield "  Numbers: change of the second column, in its standard deviations, for one of the first."
        if self.report.categories:
            yield "  At a category: the root of the share that an edge explains; model.coefficients(a, b) has signs."
        titles = {
            "sure": "Direction claimed (→: causes)",
            "open": "Related, but either may be the cause (—)",
            "weak": "Weak: small, or seldom found when rows are drawn again, or resting on one row",
        }
        for key, edges in groups.items():
            yield f"  {titles[key]}: {len(edges) or 'none'}"
            most = _MOST_WEAK if key == "weak" else _MOST_EDGES
            for edge in edges[:most]:
                yield f"    {self._line(edge)}"
            if len(edges) > most:
                yield f"    … and {len(edges) - most} more (model.edges())"

    def _line(self, edge: Edge) -> str:
        mark = "—" if edge.direction == "open" else "→"
        size = _known(edge.standardised, edge.weight)
        notes = [_REASONS[edge.direction]] if edge.direction in _REASONS else []
        stability, joined = _known(edge.stability, -1.0), _known(edge.joined, -1.0)
        if stability >= 0 and edge.direction != "open":
            notes.append(f"so in {stability:.0%} of redrawn tables")
        elif joined >= 0:
            notes.append(f"joined in {joined:.0%} of redrawn tables")
        note = f"  ({', '.join(notes)})" if notes else ""
        return f"{size:+.2f}  {edge.source} {mark} {edge.target}{note}"

    def _fit(self) -> Iterator[str]:
        if self.fit is None:
            yield "  Not measured: that takes a table of numbers with enough rows."
            return
        f = self.fit
        yield from _wrapped(
            f"  Correlations differ from those of the graph by {f.srmr:.3f} (SRMR; good below 0.08). Misfit for each "
            f"unjoined pair is {f.rmsea:.3f} (RMSEA; good below 0.05, bad above 0.1). The graph explains "
            f"{min(f.cfi, 1.0):.1%} of what there is to explain (CFI; good above 95%). χ² is {f.chi2:.1f} with {f.df} "
            "degrees of freedom.",
            2,
        )
        yield from _wrapped("  The graph was made to fit these rows: it fits new ones less well.", 2)

    def _next(self) -> Iterator[str]:
        wrong = [check for check in self._violated() if not check.remedy.startswith("nothing")]
        wrong.sort(key=lambda check: (check.verdict != "fail", check.name not in _MENDED_FIRST))
        steps = [f"{check.finding[0].upper()}{check.finding[1:]}: {check.remedy}." for check in wrong]
        steps = steps[: _MOST_STEPS - 1]
        groups = self._groups()
        if groups["open"]:
            edge = groups["open"][0]
            steps.append(
                "Open directions: say what comes first in time (tiers=[...]); where an experiment is possible, change "
                f"{edge.source} and see whether {edge.target} follows."
            )
        elif groups["sure"]:
            edge = groups["sure"][0]
            steps.append(
                f"Test the strongest: change {edge.source} in an experiment, and see whether {edge.target} follows."
            )
        # Independences are tested between numbers.
        if len(steps) < _MOST_STEPS and self.rows is not None and not self.report.categories:
            steps.append("See whether new rows contradict the graph: model.falsify(new_rows).")
        for k, step in enumerate(steps, 1):
            yield from _wrapped(f"  {k}. {step}", 5)


def _coded(levels: Sequence[object]) -> str:
    """Say which numbers stand for labels, or for dates."""
    if not levels:
        return "days since 1970"
    return listed([f"{k} for {level}" for k, level in enumerate(levels)], 6)


def _known(number: float | None, otherwise: float) -> float:
    return otherwise if number is None or not np.isfinite(number) else number


def _wrapped(text: str, indent: int) -> list[str]:
    start = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.lstrip(), _WIDTH, initial_indent=start, subsequent_indent=" " * indent, break_long_words=False
    )
