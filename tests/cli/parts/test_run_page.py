"""Where the page is served, and who may see it."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

from plimsoll.cli.parts import run_page
from plimsoll.errors import UsageError

GIVEN = {
    "web_host": None, "web_port": None, "web_base_path": None, "web_token": None, "web_login": False,
    "tls_cert": None, "tls_key": None,
}  # fmt: skip


@pytest.fixture
def taken():
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def served(capsys: pytest.CaptureFixture[str], tmp_path: Any, **given: Any) -> list[str]:
    """What is printed of a page, which must answer."""
    with run_page.page({**GIVEN, **given}, str(tmp_path / "runs.db"), None, None):
        lines = capsys.readouterr().err.splitlines()
        address = lines[0].partition("the page: ")[2].removesuffix(" (Ctrl-C ends)")
        try:
            with urllib.request.urlopen(f"{address}api/state") as answer:
                assert answer.status == 200
        except urllib.error.HTTPError as error:
            with error:
                lines.append(f"refused: {error.code}")
        return lines


def test_a_port_that_is_taken_and_was_not_asked_for_is_passed_over(capsys, tmp_path, monkeypatch, taken) -> None:
    monkeypatch.setattr(run_page, "PORT", taken)
    (line,) = served(capsys, tmp_path)
    assert line.startswith(f"port {taken} is busy; the page: http://127.0.0.1:")
    assert f":{taken}/" not in line


def test_a_port_that_was_asked_for_and_is_taken_is_told(capsys, tmp_path, taken) -> None:
    with pytest.raises(UsageError, match=f"127.0.0.1:{taken}"):
        served(capsys, tmp_path, web_port=taken)


def test_other_machines_need_a_token_which_is_made_and_printed(capsys, tmp_path) -> None:
    page, token, warning, answer = served(capsys, tmp_path, web_host="0.0.0.0", web_port=0)
    assert warning.startswith("warning: token and results cross the network in clear")
    assert page.startswith("the page: http://127.0.0.1:")
    assert len(token.removeprefix("its token: ")) > 20
    assert answer == "refused: 401"


def test_a_token_of_ones_own_is_not_printed(capsys, tmp_path) -> None:
    page, warning, answer = served(capsys, tmp_path, web_host="*", web_port=0, web_token="open-sesame")
    assert warning.startswith("warning: token and results cross the network in clear")
    assert "sesame" not in page
    assert answer == "refused: 401"


def test_a_login_can_be_asked_for_on_this_machine(capsys, tmp_path) -> None:
    assert served(capsys, tmp_path, web_login=True, web_port=0)[2] == "refused: 401"


def test_a_base_path_is_part_of_the_address(capsys, tmp_path) -> None:
    (page,) = served(capsys, tmp_path, web_base_path="/load", web_port=0)
    assert page.endswith("/load/ (Ctrl-C ends)")
