"""Chooses the importer of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.doors import added
from plimsoll.errors import PlimsollError
from plimsoll.importers import gatling, ghz, hdr, hey, jtl, jtl_xml, k6, locust_csv, phout, vegeta, wrk
from plimsoll.importers.language_models import aiperf, guidellm, vllm_bench
from plimsoll.importers.options import ImportOptions
from plimsoll.importers.plausible import check, doubts
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.studies import declared
from plimsoll.importers.tables.reader import read_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.stats.study import Study


@dataclass(frozen=True, slots=True)
class Importer:
    name: str
    """The common name of the format."""
    sniff: Callable[[ResultFile], bool]
    """Whether a file has this format, by its first bytes and its name."""
    read: Callable[[ResultFile, ImportOptions], Study]
    """Raises UsageError, which names the file and the line."""
    takes_columns: bool = False
    """Whether it uses `ImportOptions.column`."""


IMPORTERS: tuple[Importer, ...] = (
    Importer("Locust CSV", locust_csv.is_locust_csv, locust_csv.read_locust_csv),
    # Before k6: AIPerf names its times of HTTP like k6.
    Importer("AIPerf records", aiperf.is_records, aiperf.read_records),
    Importer("AIPerf, GenAI-Perf summary", aiperf.is_summary, aiperf.read_summary),
    Importer("k6 points, JSON", k6.is_json_points, k6.read_points),
    Importer("k6 points, CSV", k6.is_csv_points, k6.read_points),
    Importer("k6 summary", k6.is_summary, k6.read_summary),
    Importer("vegeta report, text", vegeta.is_text_report, vegeta.read_text_report),
    Importer("vegeta report, JSON", vegeta.is_json_report, vegeta.read_json_report),
    Importer("vegeta results", vegeta.is_results, vegeta.read_results),
    Importer("wrk, wrk2", wrk.is_wrk, wrk.read_wrk),
    Importer("ghz summary", ghz.is_text, ghz.read_text),
    Importer("ghz JSON", ghz.is_json, ghz.read_json),
    Importer("oha JSON", hey.is_json, hey.read_json),
    Importer("hey or oha CSV", hey.is_csv, hey.read_csv),
    Importer("hey or oha summary", hey.is_text, hey.read_text),
    Importer("JMeter JTL", jtl.is_jtl, jtl.read_jtl),
    Importer("JMeter JTL, XML", jtl_xml.is_xml, jtl.read_xml),
    Importer("Gatling simulation.log, text", gatling.is_text_log, gatling.read_text_log),
    Importer("Gatling simulation.log, binary", gatling.is_binary_log, gatling.read_binary_log),
    Importer("HdrHistogram log", hdr.is_hlog, hdr.read_hlog),
    Importer("HdrHistogram percentiles", hdr.is_hgrm, hdr.read_hgrm),
    Importer("vLLM bench serve", vllm_bench.is_result, vllm_bench.read_result),
    Importer("GuideLLM benchmarks", guidellm.is_report, guidellm.read_report),
    Importer("phout", phout.is_phout, phout.read_phout),
    Importer("tables in text, Markdown or CSV", lambda source: True, read_tables, takes_columns=True),
)
"""Tried in this order, after those of other packages; the last one accepts anything."""
GROUP = "plimsoll.importers"
"""The entry-point group through which other packages add rows."""


def all_importers() -> tuple[Importer, ...]:
    """The rows of other packages and our own."""
    return (*added(GROUP, Importer, [row.name for row in IMPORTERS]).values(), *IMPORTERS)


def read(path: str | Path, **given: object) -> Study:
    """The study in a file. given: data missing in the file, see `ImportOptions`.

    Raises UsageError for an unreadable file, or an unknown format.
    """
    options = ImportOptions.of(**given)
    source = ResultFile(Path(path))
    rows = [row for row in all_importers() if row.takes_columns or not options.column]
    importer = next(row for row in rows if row.sniff(source))
    try:
        study = importer.read(source, options)
    except OverflowError as error:
        raise source.error(None, f"a number is too large: {error}") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        if importer in IMPORTERS or isinstance(error, PlimsollError):
            raise
        # The code of another package.
        raise source.error(None, f"the reader of {importer.name} failed: {type(error).__name__}: {error}") from error
    check(source, study)
    study = replace(study, warnings=(*study.warnings, *doubts(study)))
    return declared(study, options)
