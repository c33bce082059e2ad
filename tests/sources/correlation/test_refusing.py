"""Each kind of value, against a server that refuses wrong ones: recorded twice, and replayed by three users at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.sources.recording_target import target
from tests.sources.refusing import FLOWS, RefusingServer, Visitor

from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.passes import one_pass


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """The draft of all flows, and how its steps went."""
    folder = tmp_path_factory.mktemp("recordings")
    paths = [folder / "first.har", folder / "second.har"]
    with target(RefusingServer()) as service:
        for path in paths:
            visitor = Visitor(service.url)
            for flow in FLOWS:
                flow(visitor)
            path.write_text(visitor.har)
        draft = make_draft([*map(str, paths)])
        files = written(draft, "locustfile", folder, as_locustfile=True)
        (folder / "locustfile.py").write_text(files.text)
        for name, content in files.files.items():
            (folder / name).write_bytes(content)
        yield draft, one_pass(draft, 3), folder


@pytest.mark.parametrize("flow", [flow.__name__ for flow in FLOWS])
def test_every_value_of_a_flow_is_taken_from_its_reply(replayed, flow):
    draft, proofs, _ = replayed
    steps = [
        proof
        for step, proof in zip(draft.steps, proofs, strict=True)
        if step.exchange.url.split("/")[3].startswith(flow)
    ]
    assert len(steps) > 1
    assert [(step.step, step.state, step.why) for step in steps] == [(step.step, "proven", "") for step in steps]


def test_only_what_a_client_makes_by_itself_is_left_to_it(replayed):
    draft, *_ = replayed
    assert [*draft.data] == ["code_challenge", "state", "code_verifier"]


def test_the_locustfile_takes_the_same_values(replayed):
    draft, _, folder = replayed
    secrets = {f"SCENARIO_{name.upper()}": value for name, value in draft.secrets.items()}
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "run", "-f", "locustfile.py", "--headless", "-u", "1", "--iterations", "1",
         "--only-summary", "--yes"],
        cwd=folder, env=os.environ | secrets | {"PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
