"""Draw the figure of the README's example from the README's own code: ``python docs/figures/example.py``."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).parent


def main() -> None:
    """Run the first Python block of the README and draw its model."""
    readme = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    block = readme.split("```python\n")[1].split("```")[0]
    example = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
    doctest.DocTestRunner().run(example, clear_globs=False)
    model: Any = example.globs["model"]
    figure = Figure(figsize=(7, 2.2), layout="constrained")
    model.plot(figure.add_subplot())
    # Without a version in the file, the same figure has the same bytes.
    figure.savefig(HERE / "example.png", dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
