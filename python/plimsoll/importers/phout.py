"""phout of Yandex.Tank: 12 columns, separated by tabs, times in µs.

Net code 777 is a shot that was not fired because the generator was too late: it is counted as dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number, whole
from plimsoll.stats.study import GeneratorHealth

if TYPE_CHECKING:
    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_WIDTH = 12
_NEVER_FIRED = 777
_LINE = re.compile(r"\d{9,11}\.\d+\t[^\t]*(?:\t-?\d+){10}")
_PRECISION = sampled("yandex.tank", floor=1e-3, size_of="replies")


def is_phout(source: ResultFile) -> bool:
    return bool(_LINE.fullmatch(source.beginning.partition("\n")[0].strip("\r")))


def read_phout(source: ResultFile, options: ImportOptions) -> Study:
    samples = Samples(source)
    dropped = 0
    for line, text in source.lines():
        if not text:
            continue
        cells = text.split("\t")
        if len(cells) != _WIDTH:
            raise source.error(line, f"{len(cells)} columns where phout has {_WIDTH}")
        net, status = whole(source, line, cells[10], "net code"), whole(source, line, cells[11], "HTTP code")
        if net == _NEVER_FIRED:
            dropped += 1
            continue
        micros = number(source, line, cells[2], "interval_real")
        samples.add(
            line,
            ("", cells[1].partition("#")[0]),
            number(source, line, cells[0], "time") + micros / 1e6,
            micros / 1000,
            failed=bool(net) or status >= 400,
            kind=f"network error {net}" if net else f"HTTP {status}",
            status=status or None,
            size=number(source, line, cells[9], "size_in"),
        )
    notes = (f"{dropped} shots were never fired (net code {_NEVER_FIRED})",) if dropped else ()
    return samples.study(options, _PRECISION, generator=GeneratorHealth(dropped=dropped), notes=notes)
