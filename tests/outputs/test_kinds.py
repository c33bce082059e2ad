"""What holds for every output, and how another package adds one."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent

from plimsoll.errors import UsageError
from plimsoll.experiment.ports import free_port
from plimsoll.outputs.kinds import OUTPUTS, opened, parse_target
from plimsoll.outputs.output import OutputError, OutputEvent, OutputRun, OutputSecond

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.command import Command, CountingTarget

TOY = '''
from plimsoll.outputs.kinds import OutputKind
from plimsoll.outputs.output import Output


class Toy(Output):
    """Writes the number of requests of each second."""

    def __init__(self, target):
        self._path = target.url

    def open(self, run):
        self._file = open(self._path, "w")

    def second(self, second):
        print(second.total.requests, file=self._file)

    def close(self):
        self._file.close()


class Broken(Output):
    def second(self, second):
        raise RuntimeError("no such thing, password=hunter2")


TOY = OutputKind("toy=FILE", "requests a second", Toy)
BROKEN = OutputKind("broken", "fails", lambda target: Broken())
NOTHING = 5
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with outputs, as an installer leaves it."""
    (tmp_path / "toy_outputs.py").write_text(TOY)
    info = tmp_path / "toy_outputs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-outputs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[plimsoll.outputs]\ntoy = toy_outputs:TOY\nbroken = toy_outputs:BROKEN\n"
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_a_package_adds_an_output_by_one_file_and_one_row(
    plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--out", f"toy={tmp_path}/toy.txt")
    assert done.code == 0, done
    counts = [int(line) for line in (tmp_path / "toy.txt").read_text().split()]
    assert sum(counts) == plimsoll.stored()["total"]["completed"] > 0


@pytest.mark.usefixtures("installed")
def test_an_output_that_fails_ends_alone_and_the_run_says_so(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--out", "broken", "--out", "jsonl=run.jsonl")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert run["run"]["notes"] == ["output broken ended early: RuntimeError: no such thing, password=***"]
    assert '"type":"end"' in (plimsoll.directory / "run.jsonl").read_text()


@pytest.mark.usefixtures("installed")
def test_an_unknown_output_is_refused_with_the_known_ones(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--out", "grafana=http://u:secret@h/")
    assert done.code == 2
    known = ", ".join(sorted({"toy", "broken", *OUTPUTS}))
    assert f"--out grafana=http://u:***@h/: there is no such output; there are {known}" in done.err
    assert target.total == 0


def test_a_text_has_a_name_a_url_and_settings() -> None:
    target = parse_target("jsonl=http://h:1/a?b=1,2&c=3,header=A: b,c,other=")
    assert (target.kind, target.url) == ("jsonl", "http://h:1/a?b=1,2&c=3")
    assert target.settings == {"header": "A: b,c", "other": ""}
    twice = parse_target("jsonl=http://h:1/,header=A: b,header=C: d,other=1,other=2")
    assert twice.settings == {"header": "A: b\nC: d", "other": "2"}
    assert parse_target("toy").name == "output toy"
    assert parse_target("toy=http://u:p@h/?token=abc").name == "output toy (http://u:***@h/?token=***)"


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--out jsonl=x,colour=red: no setting colour; it has header"):
        opened("jsonl=x,colour=red", has_page=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("influx=x", "no such output; did you mean influxdb\\?; there are influxdb, "),
        ("jsonl", "say where to"),
        ("jsonl=ftp://x/y", "say where to"),
        ("jsonl=/proc/none/x", "cannot write /proc/none/x"),
        ("jsonl=http://:80/", "a URL of the form http://host:port/path is needed"),
        ("jsonl=http://h:port/", "not a URL"),
        ("jsonl=run.jsonl,header=A: b", "header is for a URL"),
        ("jsonl=http://h/,header=nothing", "header=Name: value"),
        ("influxdb", "say where to"),
        ("influxdb=http://h:8086", "say which database, db=NAME, or which bucket"),
        ("influxdb=udp://h", "HOST:PORT"),
        ("influxdb=run.lp,db=x", "db is for a URL"),
        ("influxdb=tcp://h:1", "say where to"),
        ("prometheus", "no page whose /metrics"),
        ("prometheus=http://h,interval=0", "interval takes whole seconds"),
        ("prometheus=http://h,interval=soon", "interval takes whole seconds"),
        ("prometheus=http://h,histograms=linear", "histograms are classic or native, not linear"),
        ("prometheus=host:9090", "a URL of the form"),
        ("statsd", "HOST:PORT"),
        ("statsd=h:99999", "HOST:PORT"),
        ("statsd=h:1,tags=yes", "tags is none or dogstatsd"),
    ],
)
def test_a_mistake_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(text, has_page=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [("interval=2", "interval goes with a URL: prometheus=http"), ("histograms=x", "classic or native, not x")],
)
def test_a_mistake_of_a_run_with_a_page_is_refused(settings: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(f"prometheus,{settings}", has_page=True)


UNREACHABLE = {
    "influxdb": "influxdb=http://{address},db=x",
    "jsonl": "jsonl=http://{address}/in",
    "otlp": "otlp=http://{address},interval=1",
    "prometheus": "prometheus=http://{address},interval=1",
    "statsd": "statsd={address}",
    "webhook": "webhook=http://{address}/",
}
"""A text of each output with a receiver that is not there."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_outlives_a_receiver_that_is_not_there(
    name: str, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    target, output = opened(UNREACHABLE[name].format(address=f"127.0.0.1:{free_port()}"), has_page=False)
    assert target.kind == name
    # By UDP a sender learns of it with its second message.
    with pytest.raises(OutputError, match="refused") if name != "statsd" else nullcontext():
        output.open(output_run)
    for second in range(5):
        output.second(make_second(second))
    output.event(
        OutputEvent(
            "end", 1_800_000_006.0, "Over.", {"verdict": "passed", "answer": [], "reasons": [], "thresholds": []}
        )
    )
    began = time.monotonic()
    missing = output.flush(0.2)
    assert time.monotonic() - began < 5
    assert missing is not None
    assert missing.messages >= 1
    assert "refused" in missing.reason
    output.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("influxdb={url},db=x", b",run=20261129-1200-abcd,variant=b\\ 2 "),
        ("prometheus={url}", b"\n\x07variant\x12\x03b 2"),
        ("otlp={url},signals=metrics", b"plimsoll.variant"),
    ],
)
def test_the_variant_of_an_experiment_is_sent(
    text: str, expected: bytes, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        sent(text.format(url=receiver.url), replace(output_run, labels={"variant": "b 2"}), make_second())
    assert expected in receiver.body


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_has_an_example_and_help(name: str) -> None:
    kind = OUTPUTS[name]
    assert kind.example.startswith(name)
    assert kind.help
