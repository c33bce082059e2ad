"""Logging in Locust's format."""

from __future__ import annotations

import logging
import re

import gevent
import pytest

from plimsoll.users import log


@pytest.fixture(autouse=True)
def undo(monkeypatch):
    """Put handlers, levels and the flag back."""
    loggers = [logging.getLogger(name) for name in (None, "locust", "locust.stats_logger")]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        for handler in set(logger.handlers) - set(handlers):
            handler.close()
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_lines_look_like_locusts(tmp_path):
    path = tmp_path / "run.log"
    log.setup_logging("info", str(path))
    logging.getLogger("locust.runners").info("All users spawned")
    logging.getLogger("mine").debug("not shown")
    assert re.fullmatch(
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [^/]+/INFO/locust.runners: All users spawned\n", path.read_text()
    )


def test_without_a_file_it_is_stderr(capsys):
    log.setup_logging("WARNING")
    logging.warning("look out")
    assert "/WARNING/root: look out" in capsys.readouterr().err


def test_the_last_lines_are_kept(capsys):
    log.setup_logging("INFO")
    for number in range(log.KEPT_LINES + 1):
        logging.info("line %d", number)
    kept = log.get_logs()
    assert len(kept) == log.KEPT_LINES
    assert kept[-1].endswith(f"line {log.KEPT_LINES}")


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="LOUD"):
        log.setup_logging("LOUD")


@pytest.mark.parametrize(
    ("error", "level", "text"),
    [
        (ValueError("boom"), "CRITICAL", "Unhandled exception"),
        (SystemExit(3), "INFO", "sys.exit(3) called"),
    ],
)
def test_what_ended_a_greenlet_is_logged_and_flagged(error, level, text, caplog, monkeypatch):
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)

    def fail():
        raise error

    with caplog.at_level(logging.INFO):
        greenlet = gevent.spawn(fail)
        greenlet.link_exception(log.greenlet_exception_logger(logging.getLogger("test")))
        greenlet.join()
        gevent.sleep(0)
    assert [record.levelname for record in caplog.records] == [level]
    assert text in caplog.text
    assert log.unhandled_greenlet_exception


def _raised(message):
    try:
        raise ValueError(message)
    except ValueError as error:
        return error


def test_an_error_that_repeats_is_logged_once_and_then_counted_once_a_second():
    repeated = log.RepeatedErrors()
    assert "Traceback" in repeated.text(_raised("no item 1"), 0.0)
    assert [repeated.text(_raised("no item 2"), 0.1 * tenth) for tenth in range(1, 10)] == [""] * 9
    assert repeated.text(_raised("no item 3"), 1.0) == "ValueError: no item 3 (×11, traceback above)"
    assert repeated.text(_raised("no item 4"), 1.5) == ""


def test_errors_of_other_lines_are_others():
    repeated = log.RepeatedErrors()
    repeated.text(_raised("here"), 0.0)
    try:
        raise ValueError("there")
    except ValueError as error:
        assert "Traceback" in repeated.text(error, 0.0)
