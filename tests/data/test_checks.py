"""Each fault of a table is named, with the remedy, before anything is estimated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import ConvergenceWarning

from icid_rs import ICID


class TestAudit:
    """Each fault is named, with the remedy, before anything is estimated."""

    @pytest.fixture
    def frame(self) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        return pd.DataFrame(rng.normal(size=(100, 4)) @ rng.normal(size=(4, 4)), columns=list("abcd"))

    def refused(self, X, *words: str, **parameters) -> None:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            ICID(**parameters).fit(X)
        for word in words:
            assert word in str(caught.value)

    def test_missing_values(self, frame):
        frame.loc[7, "b"] = np.nan
        frame.loc[9, "c"] = np.nan
        self.refused(frame, "NaN", "row 7", "'b'", "2 such entries", "drop these rows")

    def test_infinities(self, frame):
        frame.loc[3, "d"] = -np.inf
        self.refused(frame, "inf", "row 3", "'d'")

    @pytest.mark.parametrize("value", [0.0, 5.0, 0.1, 1e12])
    def test_constant_columns_are_left_out(self, frame, value):
        expected = ICID().fit(frame[["a", "c"]]).adjacency_matrix_.toarray()
        frame["b"] = value
        frame["d"] = value
        with pytest.warns(UserWarning, match=r"left out: 'b' \(constant\), 'd' \(constant\)$"):
            model = ICID().fit(frame)
        assert (model.variables_, model.dropped_) == (["a", "c"], {"b": "constant", "d": "constant"})
        np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), expected)

    @pytest.mark.parametrize("precision", ["fdr", "empirical", "lasso", LedoitWolf()])
    def test_duplicate_columns(self, frame, precision):
        frame["e"] = -3.0 * frame["b"] + 1.0
        self.refused(frame, "'b' and 'e'", "same up to scale", "drop one", precision=precision)

    @pytest.mark.parametrize("precision", ["fdr", "empirical", "lasso", LedoitWolf()])
    def test_collinear_columns(self, frame, precision):
        frame["total"] = frame["a"] + frame["c"]
        with pytest.raises(ValueError, match="linear combination") as caught:
            ICID(precision=precision).fit(frame)
        assert all(f"'{name}'" in str(caught.value) for name in ("a", "c", "total"))
        assert "'b'" not in str(caught.value)

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).normal(size=(10, 20))
        self.refused(X, "n_samples = 10 for 20 columns", "precision='lasso'", precision="fdr")

    def test_extreme_scales(self, frame):
        self.refused(frame * 1e160, "variance of column 'a'", "rescale it")
        self.refused(frame * 1e-160, "variance of column 'a'", "rescale it")

    def test_repeated_names(self, frame):
        frame.columns = ["a", "b", "b", "c"]
        self.refused(frame, "'b' occur more than once")

    def test_indefinite_theta(self):
        theta = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
        self.refused(theta, "not positive definite", precision="precomputed")
        self.refused(np.diag([1.0, -1.0]), "theta[1, 1] = -1", precision="precomputed")

    def test_too_few_rows(self, frame):
        self.refused(frame.iloc[:2], "n_samples = 2")

    def test_columns_that_are_no_variables_are_left_out(self, frame):
        n = len(frame)
        frame["e"] = [f"subject {k}" for k in range(n)]
        frame["f"] = pd.date_range("2020-01-01", periods=n)
        frame["g"] = [str(k / 3) for k in range(n)]
        with pytest.warns(UserWarning, match=r"'e' \(free text\), 'f' \(dates\), 'g' \(numbers .* stored as text\)"):
            model = ICID().fit(frame)
        assert model.variables_ == list("abcd")

    # What is found in such units is another matter.
    @pytest.mark.filterwarnings("ignore:the graph is empty:UserWarning")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_wild_scales_warn(self, frame):
        frame["b"] *= 1e5
        with pytest.warns(UserWarning, match="column 'b'.*use noise='unequal', .* or pass noise_variances"):
            ICID(noise="equal").fit(frame)

    def test_nothing_found_warns(self):
        X = np.random.default_rng(0).normal(size=(500, 5))
        with pytest.warns(UserWarning, match="the graph is empty: no partial correlation"):
            ICID().fit(X)
        with pytest.warns(UserWarning, match="threshold = 100 may have removed every edge; lower it"):
            ICID(threshold=100, refine=None).fit(X @ (np.eye(5) + np.eye(5, k=1)))
        with pytest.warns(UserWarning, match="threshold = 100 may have removed every edge; lower it"):
            ICID(threshold=100).fit(X @ (np.eye(5) + np.eye(5, k=1)))
        with pytest.warns(UserWarning, match="the penalty removed every edge: lower l1_weight"):
            ICID(l1_weight=1e6, refine=None).fit(X @ (np.eye(5) + np.eye(5, k=1)))

    def test_running_out_of_iterations_warns(self, frame):
        with pytest.warns(ConvergenceWarning):
            model = ICID(max_fista_iter=2, refine=None).fit(frame)
        assert model.status_ == "max_fista_iter"

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"precision": "best"}, ValueError, "precision = 'best'"),
            ({"precision": 3}, TypeError, "precision must be"),
            ({"noise": "loud"}, ValueError, "noise = 'loud'"),
            ({"refine": "twice"}, ValueError, "refine = 'twice'"),
            ({"refine": np.ones(2)}, ValueError, "refine ="),
            ({"refine": "order", "noise": "unequal"}, ValueError, "use refine='search'"),
            ({"trials": -1}, ValueError, "trials = -1"),
            ({"trials": 1.5}, TypeError, "trials must be an integer"),
            ({"time_limit": -1.0}, ValueError, "time_limit = -1"),
            ({"dag": "magic"}, ValueError, "dag = 'magic'"),
            ({"threshold": -1.0}, ValueError, "threshold = -1"),
            ({"threshold": "some"}, TypeError, "threshold must be a number"),
            ({"skewness": np.nan}, ValueError, "skewness = nan"),
            ({"l1_weight": 0.0}, ValueError, "l1_weight = 0"),
            ({"noise_variances": [1.0]}, ValueError, "noise_variances has length 1"),
        ],
    )
    def test_bad_parameters(self, frame, parameters, error, message):
        with pytest.raises(error, match=message):
            ICID(**parameters).fit(frame)
