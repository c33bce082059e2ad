from __future__ import annotations

from inspect import signature

import pytest
from tests.long_texts import LENGTH, count_steps, mixed_text
from tests.report.studies import ladder
from tests.report.traffic import Traffic, trial

from plimsoll.record import CaughtException, Failure
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.study import document_of
from plimsoll.report.formats import FORMATS, Format, Renderer, of_runs, of_studies
from plimsoll.report.outputs import pieces, text, write
from plimsoll.report.sources import OutputRequest, RunSource, StudySource
from plimsoll.stats.analysis import analyse
from plimsoll.stats.study import Level, Study
from plimsoll.store import Store


@pytest.fixture
def source(view, valid):
    """A run that the store does not have."""
    return RunSource.of_view(view, valid, 1_795_176_000.0)


def shouted(source, request):
    """A toy format: one function of a document."""
    return f"{document_of(source, charts=False).title.upper()}\n"


@pytest.fixture
def toy(monkeypatch):
    """Its only row."""
    monkeypatch.setitem(FORMATS, "toy", Format("a title in capitals", "toy", study=shouted, run=shouted))


@pytest.mark.parametrize("name", [*FORMATS])
def test_each_row_names_functions_of_a_source_and_a_request(name):
    row = FORMATS[name]
    for each in (row.study, row.run, row.files):
        if isinstance(each, Renderer):
            assert [*signature(each.function).parameters][:2] == ["source", "request"]


def test_a_format_is_one_function_and_one_row(toy, source, tmp_path):
    study = StudySource(ladder())
    assert text(study, "toy", OutputRequest()) == "PERMALINK\n"
    assert text(source, "toy", OutputRequest()) == "A RUN THAT WAS NOT KEPT\n"
    write(study, "toy", str(tmp_path / "a.toy"), OutputRequest())
    assert (tmp_path / "a.toy").read_text() == "PERMALINK\n"
    assert [path.name for path in write(study, "toy", f"{tmp_path}/", OutputRequest())] == ["report.toy"]
    assert "toy" in of_runs()
    assert "toy" in of_studies()


def test_every_format_says_what_it_is_and_makes_something():
    for name, each in FORMATS.items():
        assert each.what, name
        assert each.suffix, name
        assert each.study or each.run or each.files, name


def test_the_report_of_a_run_is_the_same_for_a_run_and_for_a_study_of_it(source):
    request = OutputRequest()
    assert text(source, "html", request) == text(StudySource(ladder(), source), "html", request)


def test_a_time_that_may_have_been_longer_is_marked_in_every_form(source):
    """The endpoint /slow timed out after 30 s."""
    study = StudySource(ladder(), source)
    assert "≥30\u202f000" in text(source, "tables", OutputRequest(width=120))
    assert "≥30\u202f000" in text(study, "text", OutputRequest(width=120))
    assert "| ≥30\u202f000 " in text(study, "md", OutputRequest())
    assert '"≥30\u202f000"' in text(source, "html", OutputRequest())


def test_formats_for_programs_have_plain_numbers(source):
    for name in ("run.json", "run.junit", "locust.json"):
        assert "≥" not in text(source, name, OutputRequest()), name


def test_what_a_source_has_not_is_refused(source):
    with pytest.raises(KeyError):
        list(pieces(source, "github", OutputRequest()))


@pytest.fixture(scope="module")
def long_run(make_interval, make_health, tmp_path_factory):
    """An endpoint, a failure, an exception, a note and a host of 1 MB each, as no recorder would keep them."""
    text = mixed_text()
    with Store.open(str(tmp_path_factory.mktemp("long") / "runs.db")) as store:
        writer = store.start_run(Manifest(started=1_795_176_000.0, users=5, host=f"http://{text}", version="1"))
        writer.commit(
            [make_interval([10.0], name=text), make_interval([5.0], name=text, outcome="http")],
            [make_health()],
            [Failure("GET", text, "http", text, 1, 1_795_176_000.0, 1_795_176_000.0)],
            [CaughtException(text, f'  File "a.py", line 1, in buy\n    {text}\nValueError: {text}\n', 1, {0})],
        )
        writer.finish("finished", 1_795_176_001.0, notes=[text])
        yield RunSource.of(store.run(writer.id))


@pytest.mark.parametrize("name", of_runs())
def test_a_run_with_long_texts_takes_steps_in_proportion(name, long_run):
    request = OutputRequest(width=120, colour=True)
    assert count_steps(lambda: [len(each) for each in pieces(long_run, name, request)]) < 20 * LENGTH


@pytest.mark.parametrize("name", [each for each in of_studies() if FORMATS[each].study])
def test_a_study_with_long_texts_takes_steps_in_proportion(name):
    """Of two variants whose endpoint and failures are called by 1 MB each."""
    request = OutputRequest(width=120, colour=True)

    def render(called: str) -> None:
        traffic = {("GET", called): Traffic(20.0, 10.0, failing=0.2)}
        trials = [
            trial(variant, Level("users", 5), traffic, order=place) for place, variant in enumerate(("old", "new"))
        ]
        source = StudySource(analyse(Study("long", tuple(trials))))
        assert b"".join(pieces(source, name, request))

    render("/")  # imports what it needs
    assert count_steps(lambda: render(mixed_text())) < 20 * LENGTH
