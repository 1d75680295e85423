"""``variant`` itself, without a sub-command."""

from __future__ import annotations

import pytest

from pipvariant.commands.variant import SUB_COMMANDS, VariantCommand


def test_the_help_shows_each_summary_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    # pip 26 reads words in square brackets as markup.
    VariantCommand("variant", "").parser.print_help()
    shown = " ".join(capsys.readouterr().out.split())
    assert [sub.summary for sub in SUB_COMMANDS.values() if sub.summary not in shown] == []
