"""``python -m pipvariant``: the same as ``pip-variant``."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Like ``python -m pip``: the current folder must not answer for installed packages.
    if sys.path[0] in ("", os.getcwd()):
        sys.path.pop(0)

    # What pip's help says to type: "__main__.py" would become "python -m pip".
    sys.argv[0] = "pip-variant"

    from pipvariant.cli import main

    sys.exit(main())
