from __future__ import annotations

import pytest
from click.shell_completion import BashComplete

from plimsoll.cli import VERBS, main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_that_asks_this_command(plimsoll, shell):
    result = plimsoll("completion", shell)
    assert result.exit_code == 0
    assert f"_PLIMSOLL_COMPLETE={shell}_complete" in result.stdout


def test_an_unknown_shell(plimsoll):
    result = plimsoll("completion", "cmd")
    assert result.exit_code == 2
    assert "'cmd' is not one of 'bash', 'zsh', 'fish'" in result.stderr


def test_what_is_completed():
    complete = BashComplete(main, {}, "plimsoll", "_PLIMSOLL_COMPLETE")
    assert [item.value for item in complete.get_completions([], "")] == list(VERBS)
    assert [item.value for item in complete.get_completions(["show"], "--j")] == ["--json"]
