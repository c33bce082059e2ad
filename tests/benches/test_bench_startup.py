from __future__ import annotations

from benches.startup import COMMANDS, Start, is_slow, row, start


def test_the_first_request_of_a_run_is_seen_with_the_cpu_so_far() -> None:
    (headless,) = (command for command in COMMANDS if command.name == "URL, --headless")
    measured = start(headless)
    assert measured.seconds > 0.0
    assert measured.cpu > 0.0


def test_the_median_decides() -> None:
    command = COMMANDS[0]
    starts = [Start(0.2, 0.1), Start(0.4, 0.3), Start(9.0, 0.2)]
    assert row(command, starts) == (command.name, "0.40 s (0.20–9.00)", "0.20 s (0.10–0.30)", "0.5 s")
    assert not is_slow(command, starts)
    assert is_slow(command, [Start(0.6, 0.1)])
