from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.options.command import apart, one_value_each, read_words, run_words
from plimsoll.run.planning import make_plan


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("args", "spread"),
    [
        (["--tags", "a", "b", "-u", "5"], ["--tags", "a", "--tags", "b", "-u", "5"]),
        (["-T", "-u", "5"], ["-u", "5"]),
        (["-T", "a", "-E", "b", "c"], ["--tags", "a", "--exclude-tags", "b", "--exclude-tags", "c"]),
        (["--tags=a", "X"], ["--tags", "a", "X"]),
        (["-T=a", "X"], ["--tags", "a", "X"]),
        (["-Ta", "X"], ["--tags", "a", "X"]),
        (["-T", "a", "b", "-u", "5", "--tags", "c"], ["--tags", "c", "-u", "5"]),
        (["-T", "a", "--", "X"], ["--tags", "a", "--", "X"]),
    ],
)
def test_tags_go_up_to_the_next_option(args: list[str], spread: list[str]) -> None:
    assert one_value_each(args) == spread


@pytest.mark.parametrize(
    ("args", "separate"),
    [
        (["-f=shop.py", "-u=5"], ["-f", "shop.py", "-u", "5"]),
        (["-fshop.py", "-Hhttp://a?b=c"], ["-f", "shop.py", "-H", "http://a?b=c"]),
        (["-T=a", "--users=5", "-l", "-o=x"], ["-T=a", "--users=5", "-l", "-o=x"]),
        (["-foo=1", "--", "-u=5"], ["-foo=1", "--", "-u=5"]),
    ],
)
def test_short_options_may_have_their_value_attached(args: list[str], separate: list[str]) -> None:
    assert apart(args, claimed={"-foo"}) == separate


def test_words_have_values_what_is_run_and_secrets_of_the_locustfile(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def add(parser):\n    parser.add_argument('--key', is_secret=True)\n")
    words = read_words(["-f", "shop.py", "Buyer", "-u", "5", "--key", "k"], tmp_path)
    assert words.arguments == ("Buyer", "--key", "k")
    assert (words.given["users"], words.given["processes"], words.given["tags"]) == (5, 1, ())
    assert words.secret == {"--key"}
    assert Path.cwd() == tmp_path / "here"


def test_the_first_word_may_be_a_locustfile(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def add(parser):\n    parser.add_argument('--key')\n")
    words = read_words(["shop.py", "Buyer", "-u", "5", "--key", "k"], tmp_path)
    assert words.arguments == ("Buyer", "--key", "k")
    assert (words.given["locustfile"], words.given["users"]) == ("shop.py", 5)
    for others in (["-u", "5", "shop.py"], ["shop.py", "-fother.py"], ["shop.py", "--locustfile=other.py"]):
        words = read_words(others, tmp_path)
        with pytest.raises(UsageError, match=r"^shop.py: a locustfile is named with -f: plimsoll run -f shop.py$"):
            make_plan(words.arguments, words.given)


def test_configuration_files_are_looked_for_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "locust.conf").write_text("users = 7\n")
    assert read_words(["http://127.0.0.1:1/"], tmp_path).given["users"] == 7
    assert read_words(["http://127.0.0.1:1/"]).given["users"] is None


def test_a_value_that_makes_no_sense_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"^--users takes a whole number from 1 to 10000000, not x "):
        read_words(["http://127.0.0.1:1/", "-u", "x"])


def test_insecure_is_said_of_every_target_of_native_users_and_in_the_plan() -> None:
    words = read_words(["https://127.0.0.1:1/", "-k"])
    plan, _ = make_plan(words.arguments, words.given)
    assert plan.insecure
    assert plan.scenario is not None
    assert [target["verify"] for target in plan.scenario["targets"]] == [False]


def test_every_option_that_locust_has_not_may_be_one_of_the_locustfile(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def add(parser):\n    parser.add_argument('--source-address')\n")
    words = read_words(["-f", "shop.py", "--source-address", "mine"], tmp_path)
    assert words.arguments == ("--source-address", "mine")
    assert words.given.get("source_address") is None


URL = "http://127.0.0.1:1/"


def words_again(line: str) -> str:
    words = read_words(shlex.split(line))
    return shlex.join(run_words(words.arguments, words.given))


def test_values_become_the_words_that_give_them() -> None:
    said = words_again(f"{URL} --seed 0 -s 0 -T a b --header 'A: 1' --header 'B: 2' --rate 9/s -t 90 --web-port 0")
    assert said == (
        "--tags a b --header 'A: 1' --header 'B: 2' --seed 0 --run-time 1m30s --stop-timeout 0s --rate 9/s "
        f"--headless {URL}"
    )
    assert words_again(said) == said


def test_defaults_are_left_out() -> None:
    assert words_again(f"{URL} --processes 1 -L info --exit-code-on-error 1") == f"--headless {URL}"


def test_blanks_beside_a_url_are_no_part_of_it() -> None:
    assert read_words([" http://127.0.0.1:9/ ", "-u", "5"]).arguments == ("http://127.0.0.1:9/",)
    assert read_words(["-f", "shop.py", " Buyer"]).arguments == (" Buyer",)
