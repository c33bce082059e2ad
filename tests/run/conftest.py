from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from harness import Command, Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def target() -> Iterator[Target]:
    server = Target()
    yield server
    server.close()


@pytest.fixture
def plimsoll(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path)
    yield command
    command.clean_up()
