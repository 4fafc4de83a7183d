"""What tests share: random problems, a slow reference of the method, and the scripts that write pages from tests."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Seconds after which something hangs; nothing takes as long, even on a busy machine.
WATCHDOG = 300
