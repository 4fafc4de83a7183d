"""Parameters of scikit-learn's kind whose names scikit-learn would misread as attributes."""

from __future__ import annotations

from typing import Any


class Unread:
    """A parameter that is set as any other, but read with `get_params` alone.

    scikit-learn takes whatever has an attribute ``transform`` for a transformer, whose method of this name it calls.

    Examples
    --------
    >>> from icid_rs._util.parameters import Unread
    >>> class Model:
    ...     transform = Unread()
    >>> model = Model()
    >>> model.transform = "log"
    >>> hasattr(model, "transform"), vars(model)
    (False, {'transform': 'log'})
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, model: Any, value: Any) -> None:
        vars(model)[self._name] = value

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name!r} is a parameter; get_params() has its value")
