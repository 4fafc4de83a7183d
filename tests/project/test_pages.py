"""The pages under docs/ build without warnings, and their examples run."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys

import pytest

import icid_rs
from icid_rs.cli import main
from tests.helpers import ROOT
from tests.helpers.needs import need

DOCS = ROOT / "docs"
GUIDE = DOCS / "guide"
# Pages of results show figures of long runs, not examples.
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.name not in ("results.md", "paper.md"))
FENCE = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: How a block begins that needs what a test has not.
NOT_RUN = "# Not run"
EXTRAS = ["pandas", "matplotlib", "networkx", "tqdm", "pyarrow", "anndata", "polars"]


def run_page(text: str, name: str) -> int:
    """Run the examples of a page, one after another in one namespace; return how many there were."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    namespace: dict[str, object] = {}
    for block in FENCE.finditer(text):
        language, code = block.groups()
        if language == "sh":
            for line in code.splitlines():
                if line.startswith("icid ") and "|" not in line:
                    assert main(shlex.split(line)[1:]) == 0, line
        elif ">>>" not in code:
            assert code.startswith(NOT_RUN), f"{name}: a block without prompts must begin with {NOT_RUN!r}:\n{code}"
        else:
            line = text[: block.start(2)].count("\n")
            example = doctest.DocTestParser().get_doctest(code, namespace, name, name, line)
            runner.run(example, clear_globs=False)
            namespace.update(example.globs)
    result = runner.summarize(verbose=False)
    assert result.failed == 0
    return result.attempted


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page.name == "dowhy.md":
        need("dowhy.gcm")
    run_page(page.read_text(encoding="utf-8"), page.name)


def test_tutorials_have_examples():
    pages = [GUIDE / name for name in ("quickstart.md", "reading.md", "checking.md")]
    for page in [*pages, *(GUIDE / "tutorials").glob("[!i]*.md")]:
        assert ">>>" in page.read_text(encoding="utf-8"), page


def test_quickstart_needs_no_extras(tmp_path):
    """In another process, where none of them can be imported."""
    script = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.project.test_pages import GUIDE, run_page
text = (GUIDE / "quickstart.md").read_text(encoding="utf-8")
assert run_page(text[: text.index("## With extras")], "quickstart.md") > 10
"""
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_public_name_is_in_the_reference():
    reference = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    names = [name for name in icid_rs.__all__ if name not in ("__version__", "datasets", "metrics", "plotting")]
    names += [f"icid_rs.{name}" for name in ("datasets", "metrics", "plotting")]
    for module in (icid_rs.datasets, icid_rs.metrics):
        names += [k for k, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__]
    names += icid_rs.plotting.__all__
    methods = [name for name in dir(icid_rs.CausalGraph) if not name.startswith("_") and not name.endswith("_")]
    absent = [n for n in names + methods if not n.startswith("_") and not re.search(rf"\b{re.escape(n)}\b", reference)]
    assert absent == []


def test_comparison_links_what_we_have():
    lines = (DOCS / "benchmarks" / "comparison.md").read_text(encoding="utf-8").splitlines()
    tables = [row for row in lines if row.startswith("| ")]
    header = next(row for row in tables if "icid_rs" in row)
    peers = {"causal-learn", "lingam", "gcastle", "dagma", "ges", "flopsearch", "py-tetrad", "pgmpy"}
    assert peers <= {cell.strip() for cell in header.split("|")}
    for row in tables:
        assert row.count("|") == header.count("|"), row
        ours = row.split("|")[2].strip()
        assert not ours.startswith("yes"), f"no link to its page: {row}"


def test_pages_build(tmp_path):
    need("sphinx")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "reference" / "api.html").exists()
