"""Workflows, citation and hooks are valid, and the commands in README, continuous integration and hooks agree."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

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
