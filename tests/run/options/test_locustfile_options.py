from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.run.options.locustfile_options import LocustfileOptions, find_locustfile_options

if TYPE_CHECKING:
    from pathlib import Path

FILE = """
from locust import events
raise SystemExit("not to be imported")

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("-n", "--seed", type=int, help="--not-this")
    group = parser.add_argument_group("--nor-this")
    group.add_argument("--pin", is_secret=True)
    group.add_argument("--open", is_secret=False)
    group.add_argument("positional")
"""


def test_options_are_found_without_importing_anything(tmp_path: Path) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text(FILE)
    assert find_locustfile_options([file]) == LocustfileOptions(
        frozenset({"-n", "--seed", "--pin", "--open"}), frozenset({"--pin"})
    )


def test_modules_beside_and_below_count_if_they_take_part(tmp_path: Path) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text("from common import options")
    (tmp_path / "tool.py").write_text("parser.add_argument('--store')")
    (tmp_path / "events.py").write_text(
        "@events.init_command_line_parser.add_listener\ndef a(p): p.add_argument('--n')"
    )
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "options.py").write_text("def add(p): p.add_argument('--rate')")
    assert find_locustfile_options([str(file)]).options == {"--rate", "--n"}


def test_what_cannot_be_read_claims_nothing(tmp_path: Path) -> None:
    broken, binary = tmp_path / "broken.py", tmp_path / "binary.py"
    broken.write_text("p.add_argument('--a'")
    binary.write_bytes(b"add_argument \xff")
    assert find_locustfile_options([broken, binary, tmp_path / "nowhere.py"]) == LocustfileOptions()


def test_options_that_are_given_once_per_value_are_known(tmp_path: Path) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text(
        "p.add_argument('--more', action='append')\n"
        "p.add_argument('--pair', action='append', nargs=2)\n"
        "p.add_argument('--list', nargs='*')\n"
    )
    assert find_locustfile_options([file]).appending == {"--more"}
