"""Every `$ plimsoll …` in README and the guides is run, as a reader would who copied it."""

import re
from pathlib import Path

import pytest
from scripts.documents import DOCUMENTS, ROOT, SERVICE, CommandOutput, ran, renewed

PRINTS = """\
```python
# hello.py
print("it took 12 ms for http://127.0.0.1:8000/")
print("and that was all")
```

```sh
$ python hello.py
it took 7 ms for http://127.0.0.1:8000/
```
"""


@pytest.mark.long
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_do_what_it_says(document: Path, todos_url: str, tmp_path: Path) -> None:
    commands = 0
    for _, command, output in ran(document.read_text(), todos_url, tmp_path):
        text = "\n".join((f"$ {command.line}", f"exit {output.code}", *output.lines))
        assert output.code in command.exits, text
        assert "Traceback" not in text
        missing = output.shown(command.output)[1]
        assert not missing, f"missing, or not in this order (make docs-outputs): {missing}\n{text}"
        commands += 1
    assert commands, "a document without commands would test nothing"


def test_shown_lines_are_those_that_are_printed_now(tmp_path: Path) -> None:
    new, stale = renewed(PRINTS, SERVICE, tmp_path)
    assert new == PRINTS.replace("took 7 ms", "took 12 ms")
    assert stale == []


def test_a_line_that_is_not_printed_is_stale_and_stays(tmp_path: Path) -> None:
    old = PRINTS.replace("it took 7 ms for", "it needed 7 ms for")
    new, stale = renewed(old, SERVICE, tmp_path)
    assert new == old
    assert stale == ["$ python hello.py\n  does not print: it needed 7 ms for http://127.0.0.1:8000/"]


def test_lines_are_looked_for_in_their_order() -> None:
    output = CommandOutput(0, ("a 1", "b 2", "a 3"))
    assert output.shown(("a 9", "a 9", "b 9")) == (["a 1", "a 3", "b 9"], ["b 9"])


def test_every_relative_link_leads_somewhere() -> None:
    for document in [*DOCUMENTS, *ROOT.glob("docs/*.md"), ROOT / "CONTRIBUTING.md", *ROOT.glob("labs/*/README.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} → {target}"
