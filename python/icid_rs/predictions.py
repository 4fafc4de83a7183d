"""Rows that a graph draws or predicts, as they are or after an intervention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icid_rs._util.frames import make_frame
from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray, as_vector, check_int
from icid_rs.answers import AnsweringGraph
from icid_rs.data.encoding import encoded_among
from icid_rs.graph import interventions
from icid_rs.graph.curves import straighten
from icid_rs.graph.variables import locate


class PredictingGraph(AnsweringGraph):
    """A graph that draws and predicts rows, and answers questions; `CausalGraph` adds exports and pictures.

    Examples
    --------
    >>> from icid_rs.predictions import PredictingGraph
    >>> graph = PredictingGraph([[0, 2.0], [0, 0]], ["rain", "wet"], noise_variances=1.0)
    >>> graph.predict([[1.0, 0.0]], "wet")
    array([2.])
    """

    def sample(
        self,
        n: int,
        *,
        do: Mapping[Any, ArrayLike] | None = None,
        noise: Literal["auto", "residuals", "gaussian"] = "auto",
        random_state: RandomState = None,
    ) -> Any:
        """Draw rows from the model, as it is or after an intervention.

        Hidden causes and errors of measurement that a fit found act on what is drawn, as on what was measured.

        Parameters
        ----------
        n : int
            Number of rows.
        do : mapping, optional
            Variables that are set from outside, with a number or an array of n numbers each. Their causes have no
            influence on them then; their effects follow.
        noise : {"auto", "residuals", "gaussian"}
            ``"residuals"``: drawn with replacement from the residuals of the fit, for each variable by itself and
            scaled to its noise variance, so that shapes are kept; of more than 2 000 rows, 2 000 are kept for this.
            ``"gaussian"``: normal, as noise between normal scores is. ``"auto"``: residuals where the fit had rows that
            show their shape, otherwise normal. Categories of more than two levels are drawn by their probabilities,
            given their causes; `do` sets one to a level.
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None

        Returns
        -------
        pandas.DataFrame or numpy.ndarray of shape (n, d)
            A data frame if pandas is installed, of polars after a fit to one.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 2.0], [0, 0]], ["rain", "wet"], noise_variances=1.0)
        >>> X = graph.sample(10_000, do={"rain": 3.0}, random_state=0)
        >>> round(float(X["wet"].mean()), 1)
        6.0
        """
        if noise not in ("auto", "residuals", "gaussian"):
            raise ValueError(f"noise = {noise!r}: it must be 'auto', 'residuals' or 'gaussian'")
        rows = check_int(n, "n", 1)
        residuals = None if self.sample_ is None or noise == "gaussian" else self.sample_.residuals
        if noise == "residuals" and residuals is None:
            raise ValueError(
                "the graph has no residuals, being fitted to no rows or read from a file; use noise='gaussian'"
            )
        if self.column_model_ is not None:
            return self._sample_mixed(rows, do, residuals, random_state)
        network, location, variances = self._network_of_weights(), self._means(), self._variances()
        rng, settings, layer = generator(random_state), self._settings_of(do, rows), self._layer()
        drawn = interventions.draw_noise(rows, variances, residuals, rng)
        X = interventions.draw_sample(network, location, drawn, settings)
        X = X if layer is None else interventions.draw_measured(X, layer, settings, rng)
        for k, curve in self.curves_.items():
            X[:, k] = curve.restore(X[:, k])
        frame = make_frame({name: X[:, k] for k, name in enumerate(self._names)}, self._library)
        return X if frame is None else frame

    def predict(self, X: Any, target: Any = None, *, do: Mapping[Any, ArrayLike] | None = None) -> NDArray[Any]:
        """Predict variables from others, as they are or after an intervention.

        Parameters
        ----------
        X : table
            Rows with some of the variables, by name; an array has all of them. The values of the target are not read.
        target : name or number, optional
            By default all variables are predicted, each from all others.
        do : mapping, optional
            Variables that are set from outside after X was measured, with a number or an array of one number for each
            row. Columns of X that they affect are then not used, since their values would change; see `to_dowhy` for
            what would have become of them (counterfactuals).

        Returns
        -------
        numpy.ndarray of shape (n,), or (n, d) without a target
            The best linear prediction, which is the mean given X where noise is Gaussian; where columns were
            transformed, the median. Of a category of more than two levels, the level with the largest predicted share.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 2.0], [0, 0]], ["rain", "wet"], noise_variances=1.0)
        >>> X = np.array([[1.0, 2.5]])
        >>> graph.predict(X, "rain"), graph.predict(X, "wet", do={"rain": 3})
        (array([1.]), array([6.]))
        """
        if self.column_model_ is not None:
            straight = encoded_among(X, self._names, self.column_model_.blocks, self.curves_)
        else:
            straight = self._straight_columns(X)
        return self._predict_straight(*straight, target, do)

    def _predict_straight(
        self, table: FloatArray, observed: list[int], target: Any, do: Mapping[Any, ArrayLike] | None
    ) -> NDArray[Any]:
        """Predict values of the table from straightened columns."""
        predicted = self._predict_straightened(table, observed, target, do)
        if target is None:
            for k, curve in self.curves_.items():
                predicted[:, k] = curve.restore(predicted[:, k].astype(np.float64))
            return predicted
        j = locate(target, self._names)
        return self.curves_[j].restore(predicted) if j in self.curves_ else predicted

    def _predict_straightened(
        self, table: FloatArray, observed: list[int], target: Any, do: Mapping[Any, ArrayLike] | None
    ) -> NDArray[Any]:
        if self.column_model_ is not None:
            return self._predict_mixed(table, observed, target, do)
        network, location, variances = self._network_of_weights(), self._means(), self._variances()
        settings, layer = self._settings_of(do, len(table)), self._layer()
        if target is None and not settings and len(observed) == len(self._names):
            return interventions.predict_each(network.B, location, variances, table, layer)
        targets = range(len(self._names)) if target is None else [locate(target, self._names)]
        model = (network, location, variances, table, observed)
        found = [interventions.predict(*model, j, settings, layer) for j in targets]
        predicted: NDArray[Any] = np.column_stack(found) if target is None else found[0]
        return predicted

    def _means(self) -> FloatArray:
        return np.zeros(len(self._names)) if self.location_ is None else self.location_

    def _variances(self) -> FloatArray:
        if self.noise_variances_ is None:
            raise ValueError("the noise variances are not known; give them to CausalGraph as noise_variances")
        return self.noise_variances_

    def _settings_of(self, do: Mapping[Any, ArrayLike] | None, rows: int) -> dict[int, FloatArray]:
        """Return the variables that are set, with one finite number for each row."""
        settings: dict[int, FloatArray] = {}
        if do is not None and not isinstance(do, Mapping):
            raise TypeError(f"do must be a mapping from variables to numbers, such as {{'rain': 1.0}}, not {do!r}")
        for name, values in (do or {}).items():
            j, vector = locate(name, self._names), as_vector(values, rows, f"do[{name!r}]")
            if vector.size != rows:
                raise ValueError(f"do[{name!r}] has {vector.size} numbers, but there are {rows} rows")
            if not np.isfinite(vector).all():
                raise ValueError(f"do[{name!r}] must be finite")
            settings[j] = straighten(self.curves_[j], vector, name) if j in self.curves_ else vector
        return settings
