"""A few hundred fits and calls whose results are stored, so that two versions of the package can be compared.

    python -m benches.corpus record results.json.gz      # with the icid_rs of this interpreter
    python -m benches.corpus compare old.json.gz new.json.gz
    python -m benches.corpus both OLD_PYTHON NEW_PYTHON  # record with two interpreters, then compare

Run them in the root of the repository. A change that is meant to leave results alone should leave every case identical
to the bit; `compare` exits with 1 if a result differs by more than rounding (see `compare.TOLERANCE`), if a warning
of another category or an exception of another type is raised, or if a key of `info_` has gone. New keys and other
wording are listed and accepted. All tables are simulated from seeds, by NumPy alone, and only public names of
the package are called, so the same cases run on any version since 0.1.0.

simulation.py   the linear models behind the tables
cases/          what is fitted or called: a name and a function for each case
describe.py     results as trees that JSON can hold, without timings
record.py       running the cases and storing what they return, warn and raise
compare.py      two stored runs, case by case
"""

import os

# One thread for linear algebra: libraries that split a sum among threads round it differently for each number of
# threads. It takes effect only before NumPy is imported. The package's own threads are left alone; its results do not
# depend on their number, which some cases check.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_variable] = "1"
