"""The licences that ship with the wheel are those of the crates inside it."""

from __future__ import annotations

import tomllib

from tests.helpers.licences import HEADING, PAGE, ROOT, linked

#: What may be linked into a program under the MIT licence; `.cargo/deny.toml` has the same.
ALLOWED = {"MIT", "BSD-2-Clause"}


def listed() -> dict[tuple[str, str], str]:
    return {(name, version): licence for name, version, licence in HEADING.findall(PAGE.read_text(encoding="utf-8"))}


def test_every_crate_in_the_wheel_is_listed():
    assert linked() <= listed().keys()


def test_every_crate_listed_is_the_locked_one():
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    assert listed().keys() <= {(package["name"], package["version"]) for package in lock["package"]}


def test_every_licence_is_allowed():
    assert [(crate, licence) for crate, licence in listed().items() if not ALLOWED & set(licence.split(" OR "))] == []


def test_the_file_ships():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PAGE.name in project["license-files"]
