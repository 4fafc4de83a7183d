"""Random numbers from whatever scikit-learn and NumPy take for a `random_state`."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from icid_rs._util.validation import check_int

#: A seed; a generator, which is advanced; or None for other numbers every time.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None

_DEMAND = "random_state = {!r}: it must be an integer of at least 0, a numpy.random.Generator or RandomState, or None"


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator of random numbers; raise unless `random_state` is a seed, a generator or None.

    Examples
    --------
    >>> from icid_rs._util.randomness import generator
    >>> int(generator(0).integers(100))
    85
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(_DEMAND.format(random_state)) from None


def seed(random_state: RandomState) -> int:
    """Return a seed: an integer as it is, one drawn from a generator, or a new one for None.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.randomness import seed
    >>> seed(7), seed(np.random.RandomState(0)) == seed(np.random.RandomState(0))
    (7, True)
    """
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState):
        return int(generator(random_state).integers(2**31 - 1))
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1)[0])
    try:
        return check_int(random_state, "random_state", 0)
    except (TypeError, ValueError) as error:
        raise type(error)(_DEMAND.format(random_state)) from None
