"""Workflows, citation and hooks are valid, and the commands in README, continuous integration and hooks agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import icid_rs
from tests.helpers import ROOT

SCRIPTS = Path(sysconfig.get_path("scripts"))
SCHEMAS = {
    ".github/workflows/tests.yml": "vendor.github-workflows",
    ".github/workflows/wheels.yml": "vendor.github-workflows",
    ".github/dependabot.yml": "vendor.dependabot",
    "CITATION.cff": "vendor.citation-file-format",
}
TEST_COMMAND = 'pip install ".[test]" && pytest'
RUN_COMMAND = "pip install . && icid demo"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command: str) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", SCHEMAS)
def test_follows_its_schema(name):
    run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name], name)


def test_every_workflow_has_a_schema():
    workflows = [path.relative_to(ROOT).as_posix() for path in (ROOT / ".github" / "workflows").iterdir()]
    assert set(workflows) <= set(SCHEMAS)


def test_workflows_are_safe():
    run(str(SCRIPTS / "zizmor"), "--offline", "--no-progress", ".github")


def test_actions_are_pinned_by_commit():
    for name in (".github/workflows/tests.yml", ".github/workflows/wheels.yml"):
        for action in re.findall(r"uses: (.*)", read(name)):
            assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_oldest_versions_tested_are_those_declared():
    declared = tomllib.loads(read("pyproject.toml"))["project"]
    workflow = read(".github/workflows/tests.yml")
    for requirement in declared["dependencies"]:
        assert f'"{requirement.replace(">=", "==")}.*"' in workflow, requirement
    assert f'["{declared["requires-python"].removeprefix(">=")}", ' in workflow


def test_commands_of_the_readme():
    blocks = re.findall(r"^```sh\n(.*?)\n```$", read("README.md"), re.MULTILINE | re.DOTALL)
    assert RUN_COMMAND in blocks
    assert TEST_COMMAND in blocks
    assert read(".ci/run").splitlines()[-1] == TEST_COMMAND


def test_the_installed_package_is_tested():
    """The source tree is imported only if it was installed as editable."""
    origin = json.loads(metadata.distribution("icid_rs").read_text("direct_url.json") or "{}")
    editable = origin.get("dir_info", {}).get("editable", False)
    assert Path(icid_rs.__file__).is_relative_to(ROOT / "python") == editable


def test_readme_is_short():
    assert len(read("README.md").split()) <= 900


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(name)):
        assert (ROOT / link).exists(), link


def test_the_citation_names_the_latest_release():
    version, date = re.search(r"^## \[([\d.]+)\] - ([\d-]+)$", read("CHANGELOG.md"), re.MULTILINE).groups()
    citation = read("CITATION.cff")
    assert f"\nversion: {version}\n" in citation
    assert f'\ndate-released: "{date}"\n' in citation


def test_hooks_run_the_checks_of_the_tests():
    from tests.project.test_quality import COMMANDS

    hooks = read(".pre-commit-config.yaml")
    assert "cargo fmt" in hooks
    assert " ".join(COMMANDS["rust lint"]) in hooks
    assert "python -m mypy" in hooks


def listed(heading: str) -> set[str]:
    """Names in the first column of the table under a heading of CONTRIBUTING.md."""
    _, _, section = read("CONTRIBUTING.md").partition(f"\n{heading}\n")
    rows = section[: section.index("\n#")].splitlines()
    return {name for row in rows if row.startswith("|") for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def test_the_layout_is_that_of_the_folders():
    package, core = ROOT / "python" / "icid_rs", ROOT / "rust" / "src"
    folders = {f"{path.name}/" for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert listed("### The package") == folders | {path.name for path in package.glob("[!_]*.py")}
    folders = {f"{path.name}/" for path in core.iterdir() if path.is_dir()}
    assert listed("### The core") == folders | {path.stem for path in core.glob("*.rs")} - {"lib"}
    ignored = {line.strip("/") for line in read(".gitignore").splitlines()}
    own = {path.name for path in ROOT.glob("[!.]*/") if not (path / "pyvenv.cfg").exists()} - ignored
    assert {name.partition("/")[0] for name in listed("## Layout")} == own | {".ci"}


def test_paths_that_contributors_are_told_of_exist():
    places = [ROOT, ROOT / "python" / "icid_rs", ROOT / "rust" / "src"]
    for name in re.findall(r"`([\w./]+/[\w./]*)`", read("CONTRIBUTING.md")):
        assert any((place / name).exists() for place in places), name
