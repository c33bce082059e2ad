from __future__ import annotations

import shlex

from plimsoll.run.options.command import read_words
from plimsoll.run.options.words import run_words

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
