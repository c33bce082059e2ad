"""The proof of `plimsoll scenario`, as it is printed and kept beside the scenario."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.plain_text import plain_lines
from plimsoll.redact import redact
from plimsoll.say.names import listed
from plimsoll.say.numbers import moment
from plimsoll.say.scenarios import proof_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.sources.draft import ScenarioDraft
    from plimsoll.sources.proof.headers import MinimisedHeaders
    from plimsoll.sources.proof.proving import ScenarioProof


def minimised(draft: ScenarioDraft, tell: Callable[[str], None]) -> ScenarioDraft:
    """The scenario with only the static headers that it needs. Raises PlimsollError if it cannot be replayed."""
    from plimsoll.sources.proof.headers import minimise

    result = minimise(draft)
    if result.left_out:
        tell(plain_lines(f"Headers that no step needs are left out: {listed(result.left_out, 'and')}."))
    _tell_brought_back(result, tell)
    return result.draft


def _tell_brought_back(result: MinimisedHeaders, tell: Callable[[str], None]) -> None:
    if result.brought_back:
        names = listed(result.brought_back, "and")
        tell(plain_lines(f"Headers of the browser without which a step is refused: {names}."))


def proven(
    draft: ScenarioDraft,
    output: str | None,
    tell: Callable[[str], None],
    rewrite: Callable[[ScenarioDraft], None] | None = None,
) -> bool:
    """Print the proof, and write it beside the scenario. output: the scenario's file; None: it is not written. rewrite:
    writes the scenario again, if a step needs headers of the browser, or each user a row of its own. Raises
    PlimsollError if the proof cannot run."""
    from plimsoll.sources.proof.headers import bring_back
    from plimsoll.sources.proof.proving import ONE_USER, prove

    proof = prove(draft)
    if rewrite is not None and not proof.is_whole and proof.last_pass == ONE_USER:
        result = bring_back(draft)
        if result.brought_back:
            _tell_brought_back(result, tell)
            draft = result.draft
            rewrite(draft)
            proof = prove(draft)
    if rewrite is not None and proof.people:
        rewrite(replace(draft, data=proof.people))
        rows = len(next(iter(proof.people.values())))
        tell(f"The file of people has {rows} rows, made like those of the recordings: each user needs its own.")
    lines = [plain_lines(line) for line in _lines(proof)]
    for line in lines:
        tell(line)
    if output is not None:
        path = Path(output).with_suffix(".proof.txt")
        targets = ", ".join(target.url for target in draft.targets)
        head = f"{plain_lines(Path(output).name)} against {plain_lines(redact(targets))}, {moment(time.time())}"
        try:
            path.write_text("\n".join([head, *lines]) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        tell(f"Written: {path}")
    return proof.is_whole


def _lines(proof: ScenarioProof) -> Iterator[str]:
    yield proof_result(proof.proven, len(proof.steps), proof.passed, proof.last_pass, is_whole=proof.is_whole)
    width = max(len(step.step) for step in proof.steps)
    for step in proof.steps:
        yield f"  {step.step:<{width}}  {step.state}{': ' if step.why else ''}{redact(step.why)}"
    if proof.explanation:
        yield f"{proof.explanation}."
