# ruff: noqa: I002 - it is read by whatever Python is named with --python, 2.7 too
"""Start the runner beside this script, or say that this Python is too old for it."""

import os
import runpy
import sys

if __name__ == "__main__":
    if sys.version_info[:2] < (3, 9):  # noqa: UP036 - see above
        sys.exit("ERROR: pip-variant needs Python 3.9, " + sys.executable + " is older.")
    folder = os.path.dirname(os.path.abspath(__file__))
    runpy.run_path(os.path.join(folder, "runner.py"), run_name="__main__")
