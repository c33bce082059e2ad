"""The registry of sources, and what each of its members keeps to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources import reading
from plimsoll.sources.exchange import RecordedExchange, Recording
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.reading import SOURCES, read_recording
from plimsoll.sources.source_input import LONGEST_INPUT, SourceInput

FILES = Path(__file__).parent / "files"
SAMPLES = {
    "har": FILES / "shop-1.har",
    "postman": FILES / "todos.postman_collection.json",
    "insomnia": FILES / "todos.insomnia.yaml",
    "bruno": FILES / "todos.bruno.json",
    "jmeter": FILES / "todos.jmx",
    "openapi": FILES / "todos.openapi.json",
    "http": FILES / "todos.http",
    "curl": FILES / "commands.sh",
}
"""A file for each source."""
HOSTILE = (
    "",
    " ",
    "\0",
    "{",
    "[" * 5000,
    "{" * 5000,
    '{"log": {"entries": 7}}',
    "curl",
    "GET",
    "<a",
    "'",
    "\\",
)


def test_every_source_has_a_sample():
    assert list(SAMPLES) == list(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
class TestContract:
    """A source that another package adds must pass the same."""

    def test_it_knows_its_own_format_and_no_other(self, name):
        for other, file in SAMPLES.items():
            assert SOURCES[name].sniff(SourceInput.of(str(file))) is (name == other), file

    def test_it_reads_requests_that_can_be_sent(self, name):
        recording = SOURCES[name].read(SourceInput.of(str(SAMPLES[name])))
        assert recording.exchanges
        for exchange in recording.exchanges:
            assert exchange.url.startswith(("http://", "https://")), exchange
            assert exchange.method == exchange.method.upper(), exchange
            assert exchange.where.startswith(recording.name), exchange
            assert sum((exchange.body is not None, bool(exchange.parts), exchange.body_file is not None)) <= 1

    def test_the_same_input_gives_the_same_value(self, name):
        source = SourceInput.of(str(SAMPLES[name]))
        assert SOURCES[name].read(source) == SOURCES[name].read(source)

    def test_broken_input_is_refused_with_its_name(self, name):
        whole = SAMPLES[name].read_text()
        broken = [whole[: len(whole) * part // 7] for part in range(7)]
        for text in (*HOSTILE, *broken):
            source = SourceInput("broken.x", text)
            assert SOURCES[name].sniff(source) in (True, False)
            try:
                SOURCES[name].read(source)
            except UsageError as error:
                assert "broken.x" in str(error)


TOY = """
import re
from plimsoll.sources.exchange import RecordedExchange, Recording
from plimsoll.sources.reading import ScenarioSource


def read(source):
    urls = enumerate(source.text.split()[1:], 1)
    return Recording(source.name, tuple(RecordedExchange("GET", url, where=f"{source.name}:{n}") for n, url in urls))


SOURCE = ScenarioSource("toy", lambda source: source.text.startswith("toy"), read)
"""


def test_another_package_adds_a_source_with_one_file_and_one_row(tmp_path, monkeypatch):
    (tmp_path / "toy_source.py").write_text(TOY)
    metadata = tmp_path / "toy_source-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_source\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[plimsoll.sources]\ntoy = toy_source:SOURCE\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "list.txt").write_text("toy http://127.0.0.1:8000/a http://127.0.0.1:8000/b")
    try:
        text = written(make_draft([str(tmp_path / "list.txt")]), "x", as_locustfile=False).text
    finally:
        sys.modules.pop("toy_source")
    assert 'get = "/a"' in text
    assert 'get = "/b"' in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello\n", "its format is unknown; known are HAR, Postman collection, Insomnia export, "),
        (b"hello\n", "curl commands, and access logs, for some of which plimsoll scenario needs --log-format"),
        (b"a\nb\xff", ":2: not UTF-8 text"),
        (b"curl http://h/\ncurl 'x", ":2: a quote ' has no end"),
    ],
)
def test_what_cannot_be_read(tmp_path, content, message):
    file = tmp_path / "x.txt"
    file.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_recording(str(file))
    assert str(raised.value).startswith(str(file))
    assert message in str(raised.value)


def test_names_that_are_no_files(tmp_path):
    for word, message in (
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "none.har"), "No such file"),
        ("http://127.0.0.1:8000/", "for one request write: plimsoll scenario curl http://127.0.0.1:8000/"),
    ):
        with pytest.raises(UsageError, match=message):
            read_recording(word)


def test_a_source_without_requests(tmp_path, monkeypatch):
    row = reading.ScenarioSource("nothing", lambda source: True, lambda source: Recording(source.name, ()))
    monkeypatch.setattr(reading, "SOURCES", {"x": row})
    (tmp_path / "x").write_text("x")
    with pytest.raises(UsageError, match="has no requests"):
        read_recording(str(tmp_path / "x"))


def test_a_file_that_is_too_long(tmp_path):
    file = tmp_path / "long.har"
    with file.open("wb") as stream:
        stream.truncate(LONGEST_INPUT + 1)
    with pytest.raises(UsageError, match="longer than 256 MiB"):
        read_recording(str(file))


def test_too_many_requests(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_EXCHANGES", 2)
    many = tuple(RecordedExchange("GET", f"http://h/{n}") for n in range(3))
    row = reading.ScenarioSource("many", lambda source: True, lambda source: Recording(source.name, many))
    monkeypatch.setattr(reading, "SOURCES", {"x": row})
    (tmp_path / "x").write_text("x")
    with pytest.raises(UsageError, match="has more than 2 requests"):
        read_recording(str(tmp_path / "x"))
