from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.options.command import read_words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command

LINK = "tcp://10.96.0.12:5557"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("variable", ["PLIMSOLL_MASTER_PORT", "LOCUST_MASTER_NODE_PORT"])
def test_a_link_to_a_service_of_kubernetes_is_no_port(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, LINK)
    assert read_words(["http://a"]).given["master_port"] == 5557
    note = f"{variable}={LINK} is ignored: Kubernetes sets it for a service of that name"
    assert capsys.readouterr().err.count(note) == 1
    assert read_words(["http://a", "--master-port", "7"]).given["master_port"] == 7


def test_the_next_variable_counts_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_WEB_PORT", "udp://10.96.0.12:80")
    monkeypatch.setenv("LOCUST_WEB_PORT", "8090")
    assert read_words(["http://a"]).given["web_port"] == 8090


def test_other_options_take_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_HOST", LINK)
    assert read_words(["http://a"]).given["host"] == LINK


def test_other_verbs_that_have_a_port_note_it_once(plimsoll: Command) -> None:
    plimsoll.environment["PLIMSOLL_WEB_PORT"] = LINK
    done = plimsoll("serve", "--store", "none.db")
    assert done.code == 2
    assert done.err.count("is ignored: Kubernetes sets it") == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLIMSOLL_MASTER_PORT", "http://a"), ("LOCUST_USERS", "x"), ("PLIMSOLL_LOGLEVEL", "loud"),
        ("LOCUST_RUN_TIME", "9x"),
    ],
)  # fmt: skip
def test_a_message_names_the_variable(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=f"it comes from the variable {variable}"):
        read_words(["http://a"])


def test_a_message_names_the_line_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "locust.conf").write_text("# one\nspawn-rate = -1\n")
    with pytest.raises(UsageError, match=r"not -1; it comes from .*locust\.conf, line 2"):
        read_words(["http://a"])
    with pytest.raises(UsageError, match=r"not -2 "):
        read_words(["http://a", "-r", "-2"])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[tool.other]\nusers = 1\n[tool.locust]\n\nusers = "x"\n', "pyproject.toml, line 5 "),
        ('tool.locust.users = "x"\n', "pyproject.toml "),
    ],
)
def test_a_message_names_the_line_of_a_table(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        read_words(["http://a"])
    assert place in str(error.value)


def test_what_is_found_wrong_later_names_the_source_of_the_options_too(plimsoll: Command) -> None:
    plimsoll.environment["LOCUST_LOCUSTFILE"] = "shop.py"
    done = plimsoll("run", "http://127.0.0.1:9/", "--headless", "-t", "1s")
    assert done.code == 2
    assert "--locustfile comes from the variable LOCUST_LOCUSTFILE" in done.err
    del plimsoll.environment["LOCUST_LOCUSTFILE"]
    done = plimsoll("run", "http://127.0.0.1:9/", "-f", "shop.py", "--headless", "-t", "1s")
    assert " comes from " not in done.err
