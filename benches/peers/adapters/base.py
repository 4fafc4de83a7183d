"""What every adapter offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import metadata
from typing import Any, ClassVar, Literal

import numpy as np


class Method(ABC):
    """A method of one package. Making it imports the package, which is not timed; `fit` is."""

    #: As the page calls it.
    name: ClassVar[str]
    #: The distribution it comes from; methods of one distribution share an environment.
    package: ClassVar[str]
    #: What pip installs in that environment.
    requirements: ClassVar[tuple[str, ...]]
    #: What pip installs without dependencies, where they are large and the method does not use them.
    bare: ClassVar[tuple[str, ...]] = ()
    #: A directed acyclic graph, or a class of them with undirected edges.
    kind: ClassVar[Literal["dag", "cpdag"]]
    #: What differs from, or is worth knowing about, the package's defaults.
    settings: ClassVar[str]

    @abstractmethod
    def fit(self, X: np.ndarray) -> Any:
        """Return a matrix, dense or sparse: [i, j] != 0 for i → j, [i, j] and [j, i] for an undirected edge."""

    def version(self) -> str:
        return metadata.version(self.package)
