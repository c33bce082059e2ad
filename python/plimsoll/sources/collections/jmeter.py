"""Test plans of JMeter (.jmx): the declarative part of each thread group becomes a flow. The rest is listed.

https://jmeter.apache.org/usermanual/component_reference.html
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from plimsoll.errors import UsageError
from plimsoll.sources.collections.jmeter_groups import chosen_groups, is_group, load_notes, weights_of
from plimsoll.sources.collections.jmx import BEGINS, JmeterElement, XmlNode, read_jmx
from plimsoll.sources.draft import unused
from plimsoll.sources.exchange import DeclaredValue, FormPart, RecordedExchange, Recording
from plimsoll.sources.json_values import SCRIPT_KEYS, script_pointer
from plimsoll.sources.placeholders import RANDOM, UUID, Placeholders
from plimsoll.sources.reply_values import escaped
from plimsoll.sources.source_input import existing_file

if TYPE_CHECKING:
    from plimsoll.sources.collections.jmeter_groups import ThreadGroup
    from plimsoll.sources.source_input import SourceInput

MOST_ROWS = 10_000
"""Rows of a CSV set that are taken over."""
_FOLDERS = (
    "TransactionController",
    "GenericController",
    "RecordingController",
    "OnceOnlyController",
    "TestFragmentController",
)
"""Controllers whose samplers are steps in their order."""
_SILENT = ("ResultCollector", "Summariser", "BackendListener", "CacheManager", "DNSCacheManager", "DebugSampler")
"""Elements that change no request."""
_CALL = re.compile(r"\$\{__(\w+)(?:\(([^(){}]*)\))?\}")
_NAME = re.compile(r"\$\{([^${}]+)\}")
_TEXT_TESTS = (2, 16)
"""Types of a response assertion: contains, substring."""
_EQUALS = (1, 8)
"""matches, equals"""


def is_jmeter(source: SourceInput) -> bool:
    """Whether a text is a test plan of JMeter."""
    return BEGINS.match(source.beginning) is not None or source.name.lower().endswith(".jmx")


def read_jmeter(source: SourceInput) -> Recording:
    """The samplers of the thread groups in their order. Raises UsageError, which names the element."""
    plan = _TestPlan(source)
    plan.read(read_jmx(source.name, source.text))
    return Recording(
        source.name, tuple(plan.exchanges), tuple(dict.fromkeys(plan.notes)), has_placeholders=True,
        has_cookies=plan.has_cookies, data=plan.data, weights=plan.weights,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Scope:
    """What holds for the samplers of a place in the plan."""

    defaults: XmlNode | None = None
    """HTTP Request Defaults."""
    headers: tuple[tuple[str, str], ...] = ()
    think: float = 0.0
    """Seconds."""
    extracts: tuple[DeclaredValue, ...] = ()
    contains: tuple[str, ...] = ()
    status: int | None = None


class _TestPlan:
    """The work on one test plan."""

    def __init__(self, source: SourceInput) -> None:
        self.exchanges: list[RecordedExchange] = []
        self.notes: list[str] = []
        self.data: dict[str, list[str]] = {}
        """Columns of the CSV sets."""
        self.weights: dict[str, float] = {}
        """Of the flows, by name; empty if there is one."""
        self.has_cookies = False
        self._flow = ""
        """The name of the flow that is read; "" if there is one."""
        self._aliases: dict[str, str] = {}
        """Names of columns in `data` by names of variables: several groups may have CSV sets with the same names."""
        self._source = source
        self._values: dict[str, str] = {}
        self._placeholders = Placeholders(self._values, source.variables)

    def read(self, elements: tuple[JmeterElement, ...]) -> None:
        """Raises UsageError without a thread group."""
        top = [child for element in elements if element.is_enabled for child in (element, *element.children)]
        for element in elements:
            self._values |= _arguments(element.node, "TestPlan.user_defined_variables", "Arguments.arguments")
        groups = [element for element in top if is_group(element) and element.is_enabled]
        if not groups:
            raise UsageError(f"{self._source.name}: has no thread group that is enabled")
        scope = self._scope([element for element in top if element not in groups and element not in elements], _Scope())
        chosen, notes = chosen_groups(self._source, groups, self._filled)
        self.notes += notes
        if len(chosen) > 1 and any(element.node.is_on("TestPlan.serialize_threadgroups") for element in elements):
            self.notes.append(f"{self._source.name}: its thread groups run one after the other; flows do not")
        flows = [group for group in chosen if self._read_group(group, scope, is_alone=len(chosen) == 1)]
        self.notes[:0] = load_notes(flows) if flows else ()
        if len(flows) > 1:
            self.weights = weights_of(flows)

    def _read_group(self, group: ThreadGroup, scope: _Scope, *, is_alone: bool) -> bool:
        """Whether it has steps. Variables of replies and of CSV sets are those of its own threads."""
        before, aliases, taken = len(self.exchanges), self._aliases, self._placeholders.taken
        self._aliases, self._placeholders.taken = dict(aliases), set(taken)
        self._flow = "" if is_alone else group.name
        self._walk(group.element.children, scope)
        self._aliases, self._placeholders.taken = aliases, taken
        if len(self.exchanges) == before and not is_alone:
            self.notes.append(f"{self._source.name}: {group.name} has no HTTP sampler, and is left out")
        return len(self.exchanges) > before

    def _walk(self, elements: tuple[JmeterElement, ...], outer: _Scope) -> None:
        """Samplers in their order, with what holds at their place."""
        scope = self._scope([element for element in elements if element.is_enabled], outer)
        for element in elements:
            if not element.is_enabled:
                continue
            if element.kind == "HTTPSamplerProxy":
                own = self._scope([child for child in element.children if child.is_enabled], scope)
                self._sampler(element, own)
            elif element.kind in _FOLDERS:
                if element.kind == "OnceOnlyController":
                    self._not_translated(element, "its samplers are done in each iteration")
                self._walk(element.children, scope)
            elif element.kind == "LoopController":
                self._not_translated(element, "its samplers are done once")
                self._walk(element.children, scope)
            elif element.kind not in _SILENT and re.search("Sampler|Controller$", element.kind):
                inner = ", with what is in it" if element.children else ""
                self._not_translated(element, f"it is left out{inner}")

    def _not_translated(self, element: JmeterElement, what: str) -> None:
        self.notes.append(f"{self._source.name}: {element.kind} {element.title} is not translated: {what}")

    def _scope(self, elements: list[JmeterElement], outer: _Scope) -> _Scope:
        """What the elements of a place add."""
        headers, extracts, contains = dict(outer.headers), [*outer.extracts], [*outer.contains]
        think, status, defaults = outer.think, outer.status, outer.defaults
        for element in elements:
            node = element.node
            match element.kind:
                case "ConfigTestElement" if node.attributes.get("guiclass") == "HttpDefaultsGui":
                    defaults = node
                case "HeaderManager":
                    for header in node.collected("HeaderManager.headers"):
                        headers[header.value("Header.name")] = header.value("Header.value")
                case "CookieManager":
                    self.has_cookies = True
                case "Arguments":
                    self._values |= _arguments(node, "Arguments.arguments")
                case "CSVDataSet":
                    self._csv(element)
                case "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" | "PoissonRandomTimer":
                    think += self._timer(element)
                case "ResponseAssertion":
                    status, texts = self._assertion(element, status)
                    contains += texts
                case _ if extract := self._extract(element):
                    extracts += extract
                case kind if kind not in _SILENT and not re.search(r"Sampler|Controller$|Group$", kind):
                    self._not_translated(element, "it is left out")
        return _Scope(defaults, tuple(headers.items()), think, tuple(extracts), tuple(contains), status)

    def _sampler(self, element: JmeterElement, scope: _Scope) -> None:
        node, where = element.node, f"{self._source.name}: {element.title}"
        method = node.value("HTTPSampler.method", "GET").upper()
        url = self._url(node, scope.defaults, where)
        headers = [(self._filled(name, where), self._filled(value, where)) for name, value in scope.headers if name]
        body: bytes | None = None
        parts: tuple[FormPart, ...] = ()
        file: str | None = None
        arguments = node.collected("HTTPsampler.Arguments", "Arguments.arguments")
        files = node.collected("HTTPsampler.Files", "HTTPFileArgs.files")
        if node.is_on("HTTPSampler.postBodyRaw"):
            body = self._filled("".join(argument.value("Argument.value") for argument in arguments), where).encode()
        elif node.is_on("HTTPSampler.DO_MULTIPART_POST") or any(item.value("File.paramname") for item in files):
            parts = (*self._fields(arguments, where), *(self._file(item, where) for item in files))
        elif files and method != "GET":
            file = existing_file(self._filled(files[0].value("File.path"), where), self._source.folder, where)
        elif arguments:
            text = "&".join(self._pair(argument, where) for argument in arguments)
            if method in ("GET", "HEAD", "DELETE", "OPTIONS"):
                url += ("&" if "?" in url else "?") + text
            else:
                body = text.encode()
                if not any(name.lower() == "content-type" for name, _ in headers):
                    headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        if node.is_on("HTTPSampler.follow_redirects") or node.is_on("HTTPSampler.auto_redirects"):
            self.notes.append(f"{self._source.name}: redirects are not followed: a redirect is a step of its own")
        self.exchanges.append(
            RecordedExchange(
                method=method, url=url, headers=tuple(headers), body=body or None, parts=parts, body_file=file,
                name=element.title, extracts=scope.extracts, expected_status=scope.status,
                expected_texts=tuple(self._filled(text, where) for text in scope.contains),
                think=scope.think or None, flow=self._flow, where=where,
            )
        )  # fmt: skip
        self._placeholders.taken |= {extract.name for extract in scope.extracts}

    def _url(self, node: XmlNode, defaults: XmlNode | None, where: str) -> str:
        def say(name: str) -> str:
            return self._filled(node.value(name) or ("" if defaults is None else defaults.value(name)), where)

        path = self._filled(node.value("HTTPSampler.path"), where)
        if "://" in path[:10]:
            return path.partition("#")[0]
        base = self._source.variables.get("base")
        if base is None:
            host, port = say("HTTPSampler.domain"), say("HTTPSampler.port")
            if not host:
                raise UsageError(f"{where}: has no server; give one with --set base=http://127.0.0.1:8000")
            base = f"{say('HTTPSampler.protocol') or 'http'}://{host}{f':{port}' if port else ''}"
        return f"{base.rstrip('/')}{'' if path.startswith('/') else '/'}{path}".partition("#")[0]

    def _pair(self, argument: XmlNode, where: str) -> str:
        """name=value. JMeter encodes what is marked so, and sends the rest as it is."""
        texts = [self._filled(argument.value(f"Argument.{part}"), where) for part in ("name", "value")]
        if argument.is_on("HTTPArgument.always_encode"):
            texts = [quote_plus(text, safe="{}$") for text in texts]
        return "=".join(texts)

    def _fields(self, arguments: list[XmlNode], where: str) -> list[FormPart]:
        return [
            FormPart(self._filled(item.value("Argument.name"), where),
                     self._filled(item.value("Argument.value"), where).encode())
            for item in arguments
        ]  # fmt: skip

    def _file(self, item: XmlNode, where: str) -> FormPart:
        path = existing_file(self._filled(item.value("File.path"), where), self._source.folder, where)
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"{where}: cannot read {path}: {error.strerror}") from error
        kind = item.value("File.mimetype") or "application/octet-stream"
        return FormPart(item.value("File.paramname"), content, re.split(r"[/\\]", path)[-1], kind)

    def _csv(self, element: JmeterElement) -> None:
        """Its columns. JMeter begins again at its end, so the columns of a shorter set are repeated."""
        node, where = element.node, f"{self._source.name}: {element.title}"
        path = existing_file(self._filled(node.value("filename"), where), self._source.folder, where)
        delimiter = node.value("delimiter", ",").replace("\\t", "\t") or ","
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                rows = list(islice(csv.reader(file, delimiter=delimiter[:1]), MOST_ROWS + 2))
        except (OSError, ValueError, csv.Error) as error:
            raise UsageError(f"{where}: cannot read {path}: {error}") from error
        names = [name.strip() for name in node.value("variableNames").split(",") if name.strip()]
        if rows and (not names or node.is_on("ignoreFirstLine")):
            # Without names the first line has them.
            names, rows = names or rows[0], rows[1:]
        if not rows:
            raise UsageError(f"{where}: {path} has no rows")
        for number, name in enumerate(names):
            column = [row[number] if number < len(row) else "" for row in rows[:MOST_ROWS]]
            own = name if self.data.get(name) == column else unused(name, self.data)
            self.data[own] = column
            self._aliases[name] = own
            self._placeholders.taken.add(own)
        if len(rows) > MOST_ROWS:
            self.notes.append(f"{where}: only the first {MOST_ROWS:,} rows are taken over")

    def _timer(self, element: JmeterElement) -> float:
        """Its mean, in seconds."""
        node, where = element.node, f"{self._source.name}: {element.title}"
        try:
            delay = float(self._filled(node.value("ConstantTimer.delay", "0"), where) or 0)
            extent = float(self._filled(node.value("RandomTimer.range", "0"), where) or 0)
        except ValueError as error:
            raise UsageError(f"{where}: its delay is no number") from error
        if element.kind == "ConstantTimer":
            return delay / 1e3
        self.notes.append(f"{where}: its pause is random; the scenario has the mean of it")
        return (delay + (extent / 2 if element.kind == "UniformRandomTimer" else 0)) / 1e3

    def _assertion(self, element: JmeterElement, status: int | None) -> tuple[int | None, list[str]]:
        """The status that is expected, and texts."""
        node = element.node
        texts = [child.text for child in node.collected("Asserion.test_strings") if child.text]
        tested = node.value("Assertion.test_field").rpartition(".")[2]
        kind = int(node.value("Assertion.test_type") or 0) if node.value("Assertion.test_type").isdigit() else 0
        is_status = tested == "response_code" and len(texts) == 1 and re.fullmatch(r"[1-5]\d\d", texts[0])
        if is_status and kind in (*_EQUALS, *_TEXT_TESTS):
            return int(texts[0]), []
        is_plain = kind == 16 or (kind == 2 and not any(re.search(r"[\\.*+?()\[\]{}|^$]", text) for text in texts))
        if tested in ("response_data", "response_data_as_document") and is_plain:
            return status, texts
        self._not_translated(element, "it is left out")
        return status, []

    def _extract(self, element: JmeterElement) -> list[DeclaredValue]:
        """What an extractor takes; empty for another element, and for one that is not translated."""
        node = element.node
        match element.kind:
            case "JSONPostProcessor":
                names = node.value("JSONPostProcessor.referenceNames").split(";")
                paths = node.value("JSONPostProcessor.jsonPathExprs").split(";")
                pairs = [(name.strip(), path.strip()) for name, path in zip(names, paths, strict=False)]
                if all(name and path.startswith("$") and not SCRIPT_KEYS.sub("", path[1:]) for name, path in pairs):
                    return [DeclaredValue(name, "json", script_pointer(path[1:])) for name, path in pairs]
            case "RegexExtractor":
                name, pattern = node.value("RegexExtractor.refname"), node.value("RegexExtractor.regex")
                is_first = node.value("RegexExtractor.match_number", "1") in ("", "0", "1")
                is_group = node.value("RegexExtractor.template", "$1$") in ("", "$1$")
                in_body = node.value("RegexExtractor.useHeaders", "false") in ("", "false")
                if name and is_first and is_group and in_body and _groups(pattern) == 1:
                    return [DeclaredValue(name, "regex", pattern)]
            case "BoundaryExtractor":
                name = node.value("BoundaryExtractor.refname")
                left, right = (node.value(f"BoundaryExtractor.{side}boundary") for side in ("l", "r"))
                if name and left and right:
                    return [DeclaredValue(name, "regex", f"{escaped(left)}(.*?){escaped(right)}")]
        return []

    def _filled(self, text: str, where: str) -> str:
        """The text with the values of variables; ${name} of JMeter is {{name}} here."""
        text = _CALL.sub(self._called, text)
        return self._placeholders.filled(_NAME.sub(self._in_braces, text), where)

    def _in_braces(self, match: re.Match[str]) -> str:
        return f"{{{{{self._aliases.get(match[1], match[1])}}}}}"

    def _called(self, match: re.Match[str]) -> str:
        """What a function of JMeter stands for."""
        arguments = [text.strip() for text in (match[2] or "").split(",")]
        match match[1]:
            case "UUID":
                return f"{{{{{UUID}}}}}"
            case "Random" | "RandomString":
                return f"{{{{{RANDOM}}}}}"
            case "P" | "property":
                given = self._source.variables.get(arguments[0])
                return given if given is not None else arguments[1] if len(arguments) > 1 else f"{{{{{arguments[0]}}}}}"
        # The person gives it a value: --set __time=VALUE.
        return f"{{{{__{match[1]}}}}}"


def _groups(pattern: str) -> int:
    try:
        return re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError):
        return 0


def _arguments(node: XmlNode, *names: str) -> dict[str, str]:
    """Variables of the user."""
    return {item.value("Argument.name"): item.value("Argument.value") for item in node.collected(*names)}
