from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from plimsoll.locust.options.arguments import json_user_config, setup_parser_arguments
from plimsoll.locust.options.parser import LocustArgumentParser

if TYPE_CHECKING:
    from pathlib import Path


def parse(*words: str) -> argparse.Namespace:
    parser = LocustArgumentParser(prog="locust")
    setup_parser_arguments(parser)
    return parser.parse_args(words)


def test_values_have_locusts_types() -> None:
    options = parse("-u", "3", "-r", "1.5", "-t", "1h30m", "-s", "10", "-L", "debug", "--tags", "a", "b", "-T", "c")
    assert (options.num_users, options.spawn_rate, options.run_time, options.stop_timeout) == (3, 1.5, 5400, 10)
    assert (options.loglevel, options.tags, options.user_classes) == ("DEBUG", ["c"], [])


def test_user_classes_come_from_their_variable_unless_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCUST_USER_CLASSES", "A B")
    assert parse().user_classes == ["A", "B"]
    assert parse("C").user_classes == ["C"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-r", "0"], "must be > 0"),
        (["-r", "inf"], "must be a finite number"),
        (["-t", "1m30"], "Invalid time span format"),
        (["--expect-workers", "0"], "0 is not a positive number"),
        (["--slave"], "--slave has been renamed to --worker"),
        (["--web-auth", "a:b"], "--web-auth has been replaced with --web-login"),
        (["--loglevel", "loud"], "invalid choice: 'LOUD'"),
        (["--config-users", "[]x"], "not JSON"),
        (["--config-users", "nowhere.json"], "No such file"),
        (["--config-users", '{"weight": 1}'], "with its name as user_class_name"),
    ],
)
def test_senseless_values_are_refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(*words)
    assert message in capsys.readouterr().err


def test_user_configs_are_lists_wherever_they_come_from(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    file.write_text('[{"user_class_name": "A", "weight": 3}]')
    assert json_user_config(str(file)) == [{"user_class_name": "A", "weight": 3}]
    assert parse("--config-users", '{"user_class_name": "B"}').config_users == [[{"user_class_name": "B"}]]
