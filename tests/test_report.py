"""What a fit tells of itself."""

from __future__ import annotations

import pytest

from icid_rs.report import Choices, ClaimRecord, FitReport, NoiseChoice, PenaltyChoice, SampleFacts, ShapeChoice


def claims(*, is_class: bool = False, **directions: int) -> ClaimRecord:
    return ClaimRecord({}, directions=directions, is_class=is_class)


def report(
    *, noise: str = "unequal", shaped: tuple[int, ...] | None = None, acyclic: bool = True, **other
) -> FitReport:
    """A report of three variables; `shaped` is None where no search looked at shapes."""
    residuals = None if shaped is None else ShapeChoice(bool(shaped), 50.0, 20.0, shaped)
    given = {
        "timings": {},
        "settings": {"precision": "fdr"},
        "sample": SampleFacts(),
        "precision_reason": None,
        "refine": "search",
        "unit": 1.0,
        "lambda1": None,
        "criterion": {},
        "decomposition": {},
        "refinement": None,
        "choices": Choices(NoiseChoice(noise, {}), PenaltyChoice(10.0, 1.5), residuals=residuals),
        "claims": claims(open=3),
        "variables": 3,
        "sortability": None,
    }
    return FitReport(noise=noise, acyclic=acyclic, **given | other)


@pytest.mark.parametrize(
    ("facts", "identified"),
    [
        ({"acyclic": False, "claims": claims(variance=3)}, None),
        ({"noise": "equal", "claims": claims(variance=3)}, "graph"),
        ({"claims": claims(compelled=2, shape=1)}, "graph"),
        ({"claims": claims(variance=2, open=1)}, "partly"),
        ({"claims": claims(compelled=2, open=1, is_class=True)}, "equivalence class"),
        ({"claims": claims(compelled=2, open=1)}, "partly"),
        ({"claims": claims(open=3, is_class=True)}, "equivalence class"),
        # No edge, no direction.
        ({"claims": claims(is_class=True)}, "equivalence class"),
    ],
)
def test_how_much_of_the_graph_is_determined(facts, identified):
    found = report(**facts)
    assert found.identified == identified
    assert found.as_info()["identified"] == identified


def test_the_price_of_an_edge():
    assert PenaltyChoice(10.0, 1.5).value == 15.0


def test_choices_of_the_fit_and_of_the_estimator_are_shown_together():
    shown = report(shaped=(1,), precision_reason="enough rows").as_info()["choices"]
    assert shown["precision"] == {"chosen": "fdr", "reason": "enough rows"}
    assert shown["noise"] == {"chosen": "unequal"}
    assert shown["residuals"] == {
        "gaussian": False,
        "shape": 50.0,
        "threshold": 20.0,
        "shaped": [1],
        "shaped variables": 1,
    }
    assert "search" not in shown
    assert "precision" not in report().as_info()["choices"]


@pytest.mark.parametrize(("groups", "grouped"), [(None, False), (5, True)])
def test_groups(groups, grouped):
    assert report(sample=SampleFacts(groups=groups)).is_grouped is grouped
