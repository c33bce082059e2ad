"""The answer of a study: one to four plain sentences, from its comparisons and findings."""

from plimsoll.report.answer.study import answer_of

__all__ = ["answer_of"]
