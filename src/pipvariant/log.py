"""The one logger: whatever is told by it is fit for a terminal."""

from __future__ import annotations

import logging

from pipvariant.printable import printable


def _make_printable(record: logging.LogRecord) -> bool:
    record.msg, record.args = printable(record.getMessage()), ()
    return True


logger = logging.getLogger("pipvariant")
logger.addFilter(_make_printable)
