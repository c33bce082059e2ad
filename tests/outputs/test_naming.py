"""Outputs and receivers of messages are named by options, files and variables alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

PLAN = 'target = "{url}"\nout = ["jsonl=one.jsonl"]\n{more}[[request]]\nget = "/"\n'
EXPERIMENT = """\
name = "same"
repeats = 1
{more}
[scenario]
{source}
run_time = "1s"
[levels]
users = [1]
[target]
url = "{url}"
[[variant]]
name = "old"
[[variant]]
name = "new"
"""


def test_a_plan_names_outputs_and_who_gets_the_verdict(plimsoll: Command, target: CountingTarget) -> None:
    with receiving() as receiver:
        more = f'notify = "{receiver.url}/whisper"\n'
        plimsoll.write(PLAN.format(url=target.url, more=more), "plan.toml")
        done = plimsoll("run", "plan.toml", "-u", "1", "-t", "1", "--out", "jsonl=two.jsonl")
        assert done.code == 0, done
    ((path, _, message),) = receiver.requests
    assert (path, json.loads(message)["verdict"]) == ("/whisper", "passed")
    for name in ("one.jsonl", "two.jsonl"):
        text = (plimsoll.directory / name).read_text()
        assert text.count('"type":"end"') == 1, name
    assert b"whisper" not in plimsoll.store.read_bytes()
    assert "whisper" not in done.out + done.err


def test_an_experiment_names_outputs_and_who_gets_its_answer(plimsoll: Command, target: CountingTarget) -> None:
    with receiving() as receiver:
        url = f"{receiver.url}/whisper"
        plimsoll.write(PLAN.format(url=target.url, more=f'notify = "{url}"\n'), "plan.toml")
        more = f'out = "jsonl=all.jsonl"\nnotify = "{url}"'
        text = EXPERIMENT.format(source='plan = "plan.toml"', url=target.url, more=more)
        plimsoll.write(text, "experiment.toml")
        plimsoll.environment["PLIMSOLL_NOTIFY"] = f"{url}/again"
        done = plimsoll("experiment")
    assert [path for path, _, _ in receiver.requests] == ["/whisper", "/whisper/again"], done
    assert {json.loads(message)["name"] for _, _, message in receiver.requests} == {"same"}
    for name in ("all.jsonl", "one.jsonl"):
        lines = [json.loads(line) for line in (plimsoll.directory / name).read_text().splitlines()]
        starts = [line for line in lines if line["type"] == "start"]
        labels = {(line["experiment"], line["variant"], line["level"], line["repeat"]) for line in starts}
        assert labels == {("same", "new", "1 user", "1"), ("same", "old", "1 user", "1")}, name
        names = sorted(line["name"] for line in starts)
        assert names == ["same: new, 1 user, repeat 1", "same: old, 1 user, repeat 1"]
        assert len({line["run"] for line in lines}) == 2
    assert b"whisper" not in plimsoll.store.read_bytes()


@pytest.mark.parametrize("option", [True, False])
def test_files_of_options_and_variables_name_them(plimsoll: Command, target: CountingTarget, option: bool) -> None:
    with receiving() as receiver:
        if option:
            text = f'out = ["jsonl=one.jsonl", "jsonl=two.jsonl"]\nnotify = {receiver.url}\n'
            plimsoll.write(text, "plimsoll.conf")
        else:
            plimsoll.environment |= {"PLIMSOLL_OUT": "jsonl=one.jsonl", "PLIMSOLL_NOTIFY": receiver.url}
        done = plimsoll("run", target.url, "-u", "1", "-t", "1", *(("--config", "plimsoll.conf") if option else ()))
    assert done.code == 0, done
    assert json.loads(receiver.body)["verdict"] == "passed"
    assert '"type":"end"' in (plimsoll.directory / "one.jsonl").read_text()
    assert (plimsoll.directory / "two.jsonl").exists() == option


WRONG_OUT = "jsonl=http://u:secret@h/,colour=red"
NO_COLOUR = "no setting colour; it has header"
NO_URL = "a URL of the form http://host:port/path is needed"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("plan.toml", f'out = ["jsonl=x", "{WRONG_OUT}"]', f"plan.toml:3: out[1]: {NO_COLOUR}"),
        ("plan.toml", 'notify = "secret"', f"plan.toml:3: notify: {NO_URL}"),
        ("plan.toml", "out = 5", "plan.toml:3: out: must be text in quotes, not 5"),
        ("experiment.toml", f'out = "{WRONG_OUT}"', f"experiment.toml:3: out: {NO_COLOUR}"),
        ("experiment.toml", 'notify = ["http://h", "secret"]', f"experiment.toml:3: notify[1]: {NO_URL}"),
        ("locust.conf", f'\nout = ["{WRONG_OUT}"]', f"{NO_COLOUR}; --out comes from /locust.conf, line 2"),
        ("locust.conf", "notify = secret", f"{NO_URL}; --notify comes from /locust.conf, line 1"),
        ("PLIMSOLL_OUT", WRONG_OUT, f"{NO_COLOUR}; --out comes from the variable PLIMSOLL_OUT"),
        ("PLIMSOLL_NOTIFY", "secret", f"{NO_URL}; --notify comes from the variable PLIMSOLL_NOTIFY"),
    ],
)
def test_a_wrong_value_is_refused_and_its_place_is_named(
    file: str, text: str, message: str, plimsoll: Command, target: CountingTarget
) -> None:
    command = ["run", target.url, "-u", "1", "-t", "1"]
    match file:
        case "plan.toml":
            plimsoll.write(f'name = "x"\ntarget = "{target.url}"\n{text}\n[[request]]\nget = "/"\n', file)
            command[1] = file
        case "experiment.toml":
            plimsoll.write(EXPERIMENT.format(source='url = "/"', url=target.url, more=text), file)
            command = ["experiment"]
        case "locust.conf":
            plimsoll.write(f"{text}\n", file)
        case _:
            plimsoll.environment[file] = text
    done = plimsoll(*command)
    assert done.code == 2, done
    assert message in done.err.replace(str(plimsoll.directory), "")
    assert "secret" not in done.err
    assert target.total == 0


@pytest.mark.parametrize(("option", "field"), [("--out=jsonl=x", "out"), ("--notify", "notify")])
def test_arguments_of_an_experiment_have_no_outputs(option: str, field: str, plimsoll: Command) -> None:
    source = f'url = "/"\narguments = ["{option}"]'
    plimsoll.write(EXPERIMENT.format(source=source, url="http://127.0.0.1:1", more=""), "experiment.toml")
    done = plimsoll("experiment")
    assert done.code == 2
    said = f"experiment.toml:6: scenario.arguments[0]: --{field} is said with {field}, at the top of the file"
    assert said in done.err


@pytest.mark.parametrize("verb", [("experiment",), ("capacity", "http://127.0.0.1:1", "--slo", "p99 < 1s")])
def test_a_wrong_variable_is_named_before_anything_is_measured(verb: tuple[str, ...], plimsoll: Command) -> None:
    plimsoll.write(EXPERIMENT.format(source='url = "/"', url="http://127.0.0.1:1", more=""), "experiment.toml")
    plimsoll.environment["PLIMSOLL_NOTIFY"] = "secret"
    done = plimsoll(*verb)
    assert done.code == 2
    assert f"--notify: {NO_URL}; --notify comes from the variable PLIMSOLL_NOTIFY" in done.err
    del plimsoll.environment["PLIMSOLL_NOTIFY"]
    plimsoll.environment["PLIMSOLL_OUT"] = WRONG_OUT
    done = plimsoll(*verb)
    assert done.code == 2
    assert NO_COLOUR in done.err
    assert "secret" not in done.err
