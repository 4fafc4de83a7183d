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
from icid_rs.report.fit import Assumption, ClaimRecord, FitReport, KeptRows, MissingValues, SampleFacts, Verdict

__all__ = [
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
