"""Scenarios that the page sends as files: made into plans, proven, and used as the source of the next runs."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from plimsoll.errors import NotNowError, PlimsollError, UsageError
from plimsoll.plain_text import plain_lines
from plimsoll.redact import redact
from plimsoll.say.scenarios import file_not_written, proof_offer, proof_result, scenario_made
from plimsoll.server.answers import acting, answer
from plimsoll.server.scenario_messages import (
    ProofItem,
    ScenarioChoice,
    ScenarioItem,
    ScenarioStepItem,
    StepProofItem,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.server.control.run_requests import RunRequests
    from plimsoll.server.control.session import PageSession
    from plimsoll.sources.draft import ScenarioDraft
    from plimsoll.sources.making import ScenarioFiles
    from plimsoll.sources.proof.passes import ProofRunner

SCENARIO = "/api/live/scenario"
"""The address that takes the contents of one or two files as they are, one after the other. Their names and sizes, and
values of variables, are in the query."""
MOST_SCENARIO = 32_000_000
"""Bytes of a file."""
MOST_FILES = 2
"""Two recordings of the same flow are compared."""
PASTED = "pasted"
"""The name of a text that is in no file."""
LONGEST_NAME = 60
"""Characters of the name of a plan, without its suffix."""
READING = "a file is being read; wait until it is done"
PROVING = "a proof is in progress; wait until it is over"


def routes(scenarios: SentScenarios) -> list[Route]:
    """The addresses at which the page sends, proves and uses scenarios."""

    async def take(request: Request) -> Response:
        query, content = request.query_params, await request.body()
        variables = query.getlist("set")

        def made() -> ScenarioItem:
            return scenarios.take(_files(query.getlist("name"), query.getlist("size"), content), variables)

        return answer(await run_in_threadpool(made))

    return [
        Route(SCENARIO, take, methods=["POST"]),
        Route(f"{SCENARIO}/prove", acting(scenarios.prove, ScenarioChoice), methods=["POST"]),
        Route(f"{SCENARIO}/use", acting(scenarios.use, ScenarioChoice), methods=["POST"]),
    ]


@dataclass(frozen=True, slots=True)
class SentScenario:
    """A scenario of the page."""

    id: str
    draft: ScenarioDraft
    plan: Path
    """The file of the plan, alone in its folder with the files that it reads."""


class SentScenarios:
    """The scenarios of a page. It keeps the last one, and the one that runs use, until `close`.

    first: the runs of the command line, whose options and limits hold for scenarios, too. The methods raise UsageError,
    whose text the page shows. What reads files is imported only for the first file: most runs have none.
    """

    def __init__(self, session: PageSession, first: RunRequests) -> None:
        self._session = session
        self._first = first
        self._folder: Path | None = None
        self._last: SentScenario | None = None
        self._used: SentScenario | None = None
        self._runner: ProofRunner | None = None

    def take(self, files: Sequence[tuple[str, bytes]], variables: Sequence[str]) -> ScenarioItem:
        """The scenario of a file or a pasted text, or of two recordings. files: names and contents. variables: as
        NAME=VALUE. Not during a run, which this would disturb."""
        with self._session.reserved(READING):
            from plimsoll.sources.making import given_variables, sent_draft, source_name, written

            contents = [(source_name(name) or PASTED, content) for name, content in files]
            draft = sent_draft(contents, given_variables(variables))
            stem = _stem(contents[0][0])
            made = written(draft, stem, as_locustfile=False)
            scenario = SentScenario(secrets.token_hex(8), draft, self._kept(stem, made))
            if self._last is not None and self._last is not self._used:
                shutil.rmtree(self._last.plan.parent, ignore_errors=True)
            self._last = scenario
            return _item(scenario, " and ".join(name for name, _ in contents), made)

    def prove(self, choice: ScenarioChoice) -> ProofItem:
        """Replays the scenario within the limits of the command line."""
        scenario = self._chosen(choice)
        with self._session.reserved(PROVING):
            from plimsoll.sources.proof.passes import ProofRunner
            from plimsoll.sources.proof.proving import prove

            self._runner = ProofRunner(self._first.of_all)
            try:
                proof = prove(scenario.draft, self._runner)
            except UsageError:
                raise
            except PlimsollError as error:
                raise UsageError(str(error)) from error
        summary = proof_result(proof.proven, len(proof.steps), proof.passed, proof.last_pass, is_whole=proof.is_whole)
        steps = tuple(StepProofItem(step.state, _shown(step.why)) for step in proof.steps)
        return ProofItem(summary, steps, _shown(f"{proof.explanation}.") if proof.explanation else "")

    def use(self, choice: ScenarioChoice) -> None:
        """The next runs are of this scenario, or of the command line."""
        scenario = self._chosen(choice) if choice.id else None
        self._session.use(None if scenario is None else self._first.of_plan(scenario.plan))
        before, self._used = self._used, scenario
        if before is not None and before not in (scenario, self._last):
            shutil.rmtree(before.plan.parent, ignore_errors=True)

    def close(self) -> None:
        """End a proof in progress, and delete all files."""
        if self._runner is not None:
            self._runner.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _chosen(self, choice: ScenarioChoice) -> SentScenario:
        for scenario in (self._last, self._used):
            if scenario is not None and scenario.id == choice.id:
                return scenario
        raise NotNowError("another file has replaced this one; drop it again")

    def _kept(self, stem: str, files: ScenarioFiles) -> Path:
        """Write the files of a plan to a folder that only this user can read."""
        from plimsoll.sources.making import new_file

        try:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="plimsoll-page-"))
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            plan = folder / f"{stem}.toml"
            for path, content in {plan: files.text.encode(), **_beside(folder, files)}.items():
                with new_file(path) as stream:
                    stream.write(content)
        except OSError as error:
            raise UsageError(f"cannot write the plan to {error.filename or 'the disk'}: {error.strerror}") from error
        return plan


def _files(names: Sequence[str], sizes: Sequence[str], content: bytes) -> list[tuple[str, bytes]]:
    """Names and contents of what was sent. Raises UsageError for more than two, and for sizes that are none."""
    if len(names) > MOST_FILES:
        raise UsageError(f"{len(names)} files: drop one, or two recordings of the same flow")
    if len(names) < MOST_FILES:
        return [(names[0] if names else "", content)]
    if len(sizes) != MOST_FILES or not all(size.isdecimal() for size in sizes) or sum(map(int, sizes)) != len(content):
        raise UsageError("the files have changed while they were sent; drop them again")
    first = int(sizes[0])
    return [(names[0], content[:first]), (names[1], content[first:])]


def _beside(folder: Path, files: ScenarioFiles) -> dict[Path, bytes]:
    return {folder / name: content for name, content in files.files.items()}


def _item(scenario: SentScenario, source: str, files: ScenarioFiles) -> ScenarioItem:
    from plimsoll.sources.proof.proving import SEVERAL_USERS, TIMES_SENT

    draft = scenario.draft
    beside = map(file_not_written, files.files)
    return ScenarioItem(
        id=scenario.id,
        source=source,
        file=scenario.plan.name,
        plan=files.text,
        steps=tuple(
            ScenarioStepItem(step.exchange.method, _shown(step.name), tuple(value.name for value in step.extracts))
            for step in draft.steps
        ),
        summary=_shown(scenario_made(len(draft.steps), draft.taken, draft.left_out)),
        notes=tuple(map(_shown, (*files.notes, *beside))),
        proof_offer=proof_offer(TIMES_SENT, SEVERAL_USERS),
    )


def _stem(name: str) -> str:
    """The name of a plan without its suffix, as a person would call it: of the file, without its suffix."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name.rpartition(".")[0] or name).strip("-")
    return plain[:LONGEST_NAME] or "scenario"


def _shown(text: str) -> str:
    return redact(plain_lines(text))
