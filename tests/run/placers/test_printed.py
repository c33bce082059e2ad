from __future__ import annotations

from plimsoll.run.placers.printed import MOST_LINES, PrintedLines, plain_line


def test_a_line_has_no_colours_and_no_control_characters() -> None:
    assert plain_line(b"\x1b[2m\x1b[36mready\x1b[0m \x07now\r\n") == "ready \ufffdnow"
    assert plain_line(b"\xff\n") == "\ufffd"


def test_lines_have_the_host_before_them_and_what_every_worker_says_of_its_master_is_left_out() -> None:
    printed = PrintedLines("vm-a")
    for line in ("waiting for a master at 10.0.0.1:5557: refused", "", "hello", "the master has ended"):
        printed.add(line)
    assert printed.waiting == "waiting for a master at 10.0.0.1:5557: refused"
    assert (printed.take(), printed.last) == (["vm-a: hello"], "hello")
    printed.add("joined the master at 10.0.0.1:5557")
    assert (printed.take(), printed.waiting) == ([], "")


def test_of_more_lines_than_anybody_reads_the_oldest_are_left_out() -> None:
    printed = PrintedLines("vm-a")
    for number in range(MOST_LINES + 1):
        printed.add(str(number))
    assert printed.take()[0] == "vm-a: 1"
