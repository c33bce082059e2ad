from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.shell_words import shell_commands


def words(text: str) -> list[list[str]]:
    return [command.words for command in shell_commands(text, "x.sh")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl 'a b' \"c\\\"d\" e\\ f", [["curl", "a b", 'c"d', "e f"]]),
        ("curl a \\\n  -H 'x'\n\ncurl b", [["curl", "a", "-H", "x"], ["curl", "b"]]),
        ("# a comment\ncurl a # another\n", [["curl", "a"]]),
        ("curl a;curl b && curl c &", [["curl", "a"], ["curl", "b"], ["curl", "c"]]),
        ("curl a | jq '.x'\ncurl b", [["curl", "a"], ["curl", "b"]]),
        ("curl $'it\\'s \\u00e9\\x41\\n\\u0021'", [["curl", "it's éA\n!"]]),
        ("curl a#b ''", [["curl", "a#b", ""]]),
        # cmd, as Chrome copies it
        (
            'curl ^"http://h/?a=1^&b=2^" ^\n  -H ^"x: \\^"q\\^"^" ^\n  --data-raw ^"^{^\\^"a^\\^":1^}^"',
            [["curl", "http://h/?a=1&b=2", "-H", 'x: "q"', "--data-raw", '{"a":1}']],
        ),
        # cmd, as Firefox copies it
        ('curl "http://h/" ^\n --data-raw "{""a"":""b c""}"', [["curl", "http://h/", "--data-raw", '{"a":"b c"}']]),
        # PowerShell
        (
            "curl.exe 'http://h/' `\n -H \"a: `\"b`\" c\" `\n -d 'it''s'",
            [["curl.exe", "http://h/", "-H", 'a: "b" c', "-d", "it's"]],
        ),
    ],
)  # fmt: skip
def test_words_are_those_of_the_shell(text, expected):
    assert words(text) == expected


def test_a_command_knows_its_line():
    assert [command.line for command in shell_commands("\n# x\ncurl a \\\n b\ncurl c", "x")] == [3, 5]


def test_variables_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PAW", "cat")
    assert words("curl \"a ${PAW}\" $PAW '$PAW'") == [["curl", "a cat", "cat", "$PAW"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curl a\ncurl 'b", "x.sh:2: a quote ' has no end"),
        ('curl "b', 'x.sh:1: a quote " has no end'),
        ("curl $'b", "x.sh:1: a quote $' has no end"),
        ("curl $(cat token)", "x.sh:1: a command within the command is not run"),
        ('curl "`cat token`"', "x.sh:1: a command within the command is not run"),
        ("\ncurl $NO_SUCH_THING_HERE", "x.sh:2: $NO_SUCH_THING_HERE is not set; export it, or write its value"),
        ('curl "a" `\n "b', 'x.sh:2: a quote " has no end'),
    ],
)
def test_mistakes_are_named_by_line(text, message):
    with pytest.raises(UsageError) as raised:
        shell_commands(text, "x.sh")
    assert message in str(raised.value)
