from __future__ import annotations

from plimsoll.run.options.command import read_words
from plimsoll.run.options.words import run_words


def test_values_become_the_words_that_give_them() -> None:
    given = read_words(
        [
            "http://127.0.0.1:1/",
            "--seed",
            "0",
            "-s",
            "0",
            "-T",
            "a",
            "b",
            "--rate",
            "9/s",
            "-t",
            "90",
            "--web-port",
            "0",
        ]
    ).given
    words = ["--tags", "a", "--tags", "b", "--seed", "0", "--run-time", "1m30s", "--stop-timeout", "0s"]
    assert run_words(("http://127.0.0.1:1/",), given) == [*words, "--rate", "9/s", "--headless", "http://127.0.0.1:1/"]
