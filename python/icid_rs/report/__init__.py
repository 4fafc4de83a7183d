"""Typed records of the steps and choices of a fit, from which `ICID.info_` is made."""

from icid_rs.report.choices import (
    Choices,
    MeasurementChoice,
    NoiseChoice,
    PenaltyChoice,
    Refinement,
    ShapeChoice,
    TransformChoice,
)
from icid_rs.report.fit import (
    Adjusted,
    Assumption,
    ClaimRecord,
    FitReport,
    KeptRows,
    MissingValues,
    SampleFacts,
    Verdict,
)

__all__ = [
    "Adjusted",
    "Assumption",
    "Choices",
    "ClaimRecord",
    "FitReport",
    "KeptRows",
    "MeasurementChoice",
    "MissingValues",
    "NoiseChoice",
    "PenaltyChoice",
    "Refinement",
    "SampleFacts",
    "ShapeChoice",
    "TransformChoice",
    "Verdict",
]
