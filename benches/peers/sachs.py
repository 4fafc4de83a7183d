"""Protein signalling of Sachs et al. (2005): 853 cells, 11 proteins, and the 17 edges that are consensus.

Read from ../shared/data or the folder in ICID_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from benches.peers.environments import ROOT

PATH = Path(os.environ.get("ICID_DATA", ROOT.parent / "shared" / "data")) / "sachs_observational.csv"
CONSENSUS = """praf pmek; pmek p44/42; plcg PIP2; plcg PIP3; PIP3 PIP2; p44/42 pakts473; PKA praf; PKA pmek; PKA p44/42;
PKA pakts473; PKA P38; PKA pjnk; PKC praf; PKC pmek; PKC PKA; PKC P38; PKC pjnk"""


def load(*, logarithms: bool) -> tuple[sp.csr_array, np.ndarray]:
    """Return the consensus and the concentrations or their logarithms."""
    frame = pd.read_csv(PATH)
    names = list(frame.columns)
    pairs = [edge.split() for edge in CONSENSUS.split(";")]
    causes, effects = ([names.index(pair[end]) for pair in pairs] for end in (0, 1))
    X = frame.to_numpy(float)
    return sp.csr_array((np.ones(len(pairs)), (causes, effects)), shape=(11, 11)), np.log(X) if logarithms else X
