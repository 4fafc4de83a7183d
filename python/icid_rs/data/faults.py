"""Everything that is wrong with a table, in one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Something wrong with a table, and how it is mended.

    Attributes
    ----------
    text : str
        What is wrong, and where.
    remedy : str
        What to do in Python.
    option : str
        What to do on the command line.
    """

    text: str
    remedy: str
    option: str


class TableError(ValueError):
    """A table that cannot be fitted as it is; names all its faults.

    Examples
    --------
    >>> from icid_rs.data.faults import Fault, TableError
    >>> error = TableError("X", [Fault("column 'a' holds dates", "drop it", "say --drop a")])
    >>> str(error), error.for_command_line()
    ("X: column 'a' holds dates; drop it", "X: column 'a' holds dates; say --drop a")
    """

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source, self.faults = source, tuple(faults)
        super().__init__(self._text([fault.remedy for fault in faults]))

    def __reduce__(self) -> tuple[type[TableError], tuple[str, tuple[Fault, ...]]]:
        return type(self), (self.source, self.faults)

    def for_command_line(self) -> str:
        """Return the message with the options of ``icid fit`` as remedies."""
        return self._text([fault.option for fault in self.faults])

    def _text(self, remedies: Sequence[str]) -> str:
        # Faults with the same remedy share it.
        texts: dict[str, list[str]] = {}
        for fault, remedy in zip(self.faults, remedies, strict=True):
            texts.setdefault(remedy, []).append(fault.text)
        parts = [f"{', and '.join(own)}; {remedy}" for remedy, own in texts.items()]
        return (f"{self.source}: " if self.source else "") + ". Also: ".join(parts)
