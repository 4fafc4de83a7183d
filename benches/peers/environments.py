"""A virtual environment for each package, made on first use and kept in a folder that git ignores."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from benches.peers.adapters.base import Method

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(__file__).parent / ".cache"


def python_of(method: type[Method]) -> Path:
    """Return the interpreter of a method's environment, which is made if it is missing or out of date."""
    folder = CACHE / "environments" / method.package
    python, stamp = folder / "bin" / "python", folder / "requirements.txt"
    wanted = _wanted(method)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"making the environment of {method.package}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *method.requirements], check=True)
    if method.bare:
        subprocess.run([*install, "--no-deps", *method.bare], check=True)
    # Written last: an environment that was interrupted is made again.
    stamp.write_text(wanted)
    return python


def _wanted(method: type[Method]) -> str:
    """List the requirements; of this package, its sources too."""
    lines = [*method.requirements, *method.bare]
    if str(ROOT) in method.requirements:
        digest = hashlib.sha256((ROOT / "Cargo.lock").read_bytes())
        for path in sorted([*ROOT.glob("rust/**/*.rs"), *ROOT.glob("python/**/*.py")]):
            digest.update(path.read_bytes())
        lines.append(digest.hexdigest())
    return "\n".join(lines)
