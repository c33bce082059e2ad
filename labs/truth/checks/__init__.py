"""The checks, in order. A check is a function `Lab → cases`, one file each.

Each file begins with the purpose and the tolerance of its check.
"""

from collections.abc import Callable, Iterator

from ..lab import Lab
from . import (
    brackets,
    busy,
    counts,
    distributions,
    failures,
    freeze_closed,
    freeze_open,
    grpc,
    http2,
    sockets,
    spacing,
    streams,
    texts,
    unanswered,
)
from .case import Case

Check = Callable[[Lab], Iterator[Case]]

CHECKS: dict[str, Check] = {
    "counts": counts.check,
    "distributions": distributions.check,
    "freeze-open": freeze_open.check,
    "freeze-closed": freeze_closed.check,
    "busy": busy.check,
    "brackets": brackets.check,
    "spacing": spacing.check,
    "failures": failures.check,
    "streams": streams.check,
    "texts": texts.check,
    "sockets": sockets.check,
    "http2": http2.check,
    "grpc": grpc.check,
    "unanswered": unanswered.check,
}
