from __future__ import annotations

import stat
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.transport import join_token as module

GOOD = "a token of enough letters"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_on_one_machine_both_sides_find_the_token_of_their_user(host: str, home: Path) -> None:
    token, is_new = module.master_token(host, None, insecure=False)
    assert (len(token) >= 32, is_new) == (True, False)
    assert module.worker_token(host, None, insecure=False) == token
    file = home / ".plimsoll" / "join-token"
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (token, 0o600)
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_others_could_read_is_taken_from_them(home: Path) -> None:
    (home / ".plimsoll").mkdir()
    file = home / ".plimsoll" / "join-token"
    file.write_text(GOOD)
    file.chmod(0o644)
    assert module.own_token() == GOOD
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_without_a_place_for_it_the_message_says_what_to_set(home: Path) -> None:
    (home / ".plimsoll").write_text("a file")
    with pytest.raises(
        UsageError, match=r"cannot be in .*join-token: .*Set PLIMSOLL_JOIN_TOKEN to the same 16 or more"
    ):
        module.own_token()


@pytest.mark.parametrize("host", ["*", "0.0.0.0", "::", "10.0.0.1", "load.example"])
def test_for_other_machines_a_new_token_is_made_each_time(host: str) -> None:
    first, second = (module.master_token(host, None, insecure=False) for _ in range(2))
    assert (first[1], second[1]) == (True, True)
    assert first[0] != second[0] and len(first[0]) >= 32
    assert module.master_token(host, GOOD, insecure=False) == (GOOD, False)
    assert module.master_token(host, None, insecure=True) == ("", False)


def test_a_worker_of_another_machine_without_a_token_says_what_to_set_on_both_sides() -> None:
    with pytest.raises(UsageError, match=r"set PLIMSOLL_JOIN_TOKEN to the same .* on the master and on its workers"):
        module.worker_token("master", None, insecure=False)
    assert module.worker_token("master", GOOD, insecure=False) == GOOD
    assert module.worker_token("master", None, insecure=True) == ""


@pytest.mark.parametrize("given", [None, ""])
def test_an_empty_token_is_none(given: str | None) -> None:
    assert module.given_token(given, insecure=False) is None


def test_a_token_that_can_be_guessed_is_refused_and_so_is_one_that_has_no_effect() -> None:
    with pytest.raises(UsageError, match=r"has 15 characters, and needs 16 or more: python3 -c .* makes one"):
        module.given_token("x" * 15, insecure=False)
    assert module.given_token("x" * 16, insecure=False) == "x" * 16
    with pytest.raises(UsageError, match="--insecure-join goes without a token; leave out --join-token"):
        module.given_token(GOOD, insecure=True)


def test_the_line_for_workers_is_whole() -> None:
    line = module.invitation("10.0.0.1", 5557, "made", insecure=False, own=True)
    assert line == (
        "workers can join: PLIMSOLL_JOIN_TOKEN=made plimsoll run -f - --worker --master-host 10.0.0.1 "
        "--master-port 5557"
    )
    assert "made" not in module.invitation("10.0.0.1", 5557, "", insecure=False, own=False)
    here = module.invitation("127.0.0.1", 5557, "", insecure=False, own=True)
    assert "on this machine can join: plimsoll run --worker --master-port 5557. For other machines" in here
    assert "anybody who reaches it can join" in module.invitation("*", 5557, "", insecure=True, own=True)


@pytest.mark.parametrize("host", ["*", "0.0.0.0", "::"])
def test_an_address_of_this_machine_stands_in_the_line_or_a_word_for_it(host: str) -> None:
    assert module.reachable(host) not in ("*", "0.0.0.0", "::", "127.0.0.1", "")
