"""Findings in words: a file for each kind of subject, with a function for each class of `plimsoll.stats.findings`."""

from plimsoll.say.findings import course, failures, ladders, measuring, sizes, target
from plimsoll.say.findings.said import Said, evidence_of, said

__all__ = ["Said", "course", "evidence_of", "failures", "ladders", "measuring", "said", "sizes", "target"]
