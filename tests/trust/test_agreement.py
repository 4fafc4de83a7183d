"""Agreement with other libraries, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from benches import agreement

from tests.helpers.needs import need


@pytest.mark.parametrize("seed", agreement.GRAPHS)
def test_indices_of_fit_are_those_of_semopy(seed):
    need("semopy")
    ours, theirs = agreement.indices_beside_semopy(seed)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize("seed", agreement.GRAPHS)
def test_standard_errors_are_those_of_statsmodels(seed):
    need("statsmodels.api")
    ours, theirs = agreement.errors_beside_statsmodels(seed)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("is_right", [True, False])
def test_verdicts_on_graphs_are_those_of_dowhy(is_right):
    need("dowhy.gcm.falsify")
    verdicts, _ = agreement.falsified_beside_dowhy(8, 1, is_right=is_right, permutations=agreement.FEW)
    assert (verdicts[0] == verdicts[1]).all()
    assert verdicts[0].tolist() == [True, not is_right]
