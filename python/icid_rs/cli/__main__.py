"""``python -m icid_rs.cli`` is ``icid``."""

import sys

from icid_rs.cli import main

if __name__ == "__main__":
    sys.exit(main())
