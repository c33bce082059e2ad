"""What is known of a Ray cluster without one. Whole runs are in tests/run/placers/test_ray.py."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.placers import ray as module
from plimsoll.run.placers.placer import MasterAddress
from plimsoll.run.placers.ray import RayOptions, RayPlacer, with_token

if TYPE_CHECKING:
    from pathlib import Path

MASTER = MasterAddress("127.0.0.1", 5557, "the token of a test")
OPTIONS = RayOptions("10.0.0.1:6379", nodes=2, workers=3)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("10.0.0.1:6379,nodes=2,workers=3", OPTIONS),
        (",nodes=8", RayOptions(nodes=8)),
        ("[::1]:6379,nodes=1", RayOptions("[::1]:6379", nodes=1)),
    ],
)
def test_an_address_nodes_and_workers_are_read(text: str, options: RayOptions) -> None:
    assert RayOptions.of(text) == options


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.1,nodes=1", "10.0.0.1 is not HOST:PORT; for RAY_ADDRESS"),
        ("auto", "nodes=0: from 1 to 10000; nodes is how many machines get workers"),
        ("auto,nodes=1,cores=4", "cores=4 is not understood; after the address there are nodes=8 and workers=4"),
        ("auto,nodes=-1", "nodes=-1 is not understood"),
        ("auto,nodes=1,workers=999999", "workers=999999 is not understood"),
    ],
)
def test_what_is_wrong_is_named(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why.replace("(", r"\(")):
        RayOptions.of(text)


def test_without_ray_the_message_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"^Ray is not installed here: .*pip install 'plimsoll-lab\[cluster\]'$"):
        RayPlacer(OPTIONS)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program in the place of the driver, which does what a test writes there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module, "find_spec", lambda _: True)
    program = tmp_path / "driver.py"
    monkeypatch.setattr(module, "DRIVER", f"exec(open({str(program)!r}).read())")
    return program


SAY = 'import json, sys\ndef say(**event): print("plimsoll-ray", json.dumps(event), flush=True)\n'


def test_what_the_driver_says_is_how_the_workers_are_doing(driver: Path) -> None:
    driver.write_text(
        SAY + "request = json.loads(sys.stdin.readline())\n"
        "assert request == {'address': '10.0.0.1:6379', 'nodes': 2, 'workers': 3, 'host': '127.0.0.1', 'port': 5557,\n"
        "                   'token': 'the token of a test'}\n"
        "print('Ray says something')\n"
        "say(news='vm-a: hello')\nsay(waiting='one machine is missing')\nsay(started=True)\n"
        "assert sys.stdin.readline() == 'end\\n'\nsay(news='the end')\n"
    )
    placer = RayPlacer(OPTIONS)
    assert placer.start(MASTER) == 6
    placement = placer.look()
    assert (placement.news, placement.waiting, placement.failure) == (("vm-a: hello",), "one machine is missing", "")
    placer.close()
    assert placer.look().news == ("the end",)
    placer.close()


def test_a_refusal_is_the_error_and_a_driver_that_ends_is_named_with_its_last_words(driver: Path) -> None:
    driver.write_text(SAY + "say(failure='there is no Ray cluster at 10.0.0.1:6379: refused')\n")
    placer = RayPlacer(OPTIONS)
    with pytest.raises(PlimsollError, match=r"^there is no Ray cluster at 10\.0\.0\.1:6379: refused$"):
        placer.start(MASTER)
    placer.close()
    driver.write_text("print('\\x1b[31mno memory\\x1b[0m')\nraise SystemExit(1)\n")
    placer = RayPlacer(OPTIONS)
    with pytest.raises(PlimsollError, match=r"^the driver of Ray has ended: no memory$"):
        placer.start(MASTER)
    placer.close()


def test_a_token_that_nobody_else_can_read_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".ray" / "auth_token"
    found = with_token({"A": "b"})
    assert found == {"A": "b", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(file)}
    token = file.read_text()
    assert len(token) == 64 and stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert with_token({"A": "b"}) == found
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (token, 0o600)


def test_a_token_that_is_given_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert with_token({"RAY_AUTH_TOKEN": "t"}) == {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t"}
    assert with_token({"RAY_AUTH_MODE": "disabled"}) == {"RAY_AUTH_MODE": "disabled"}
    own = with_token({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "own")})
    assert own["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / "own")
    assert not (tmp_path / ".ray").exists()


def test_a_token_that_cannot_be_made_is_one_line() -> None:
    with pytest.raises(UsageError, match="the token of the Ray cluster, /proc/x/token: No such file"):
        with_token({"RAY_AUTH_TOKEN_PATH": "/proc/x/token"})
