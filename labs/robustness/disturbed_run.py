"""One trial of a disturbance: a run, what happens to it, and what it broke."""

import time
from pathlib import Path
from random import Random

from .broken import broken
from .judgement import Judgement
from .protocols import target_of
from .scene import Scene
from .trial import Trial


def judge(trial: Trial, folder: Path) -> Judgement:
    """Run the trial. folder: an empty one. Raises TruthError."""
    with target_of(trial.protocol, folder) as target:
        scene = Scene(trial, target, folder)
        try:
            first = scene.wait_for_load()
            scene.wait(first + trial.moment * trial.seconds)
            moment = time.monotonic()
            trial.disturbance.act(scene, Random(trial.seed))
            seen = scene.observe(moment)
            return Judgement(str(trial), list(broken(trial, seen)), seen.words, seen.applied)
        except TimeoutError as error:
            return Judgement(str(trial), [str(error)], "")
        finally:
            scene.close()
