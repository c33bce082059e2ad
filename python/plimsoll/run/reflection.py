"""Server reflection: the schema of the calls of a plan, asked of their targets.

It is asked once, before a run begins, by the process that starts the workers, and is part of the plan from then on.
Allowed hosts, `--identify`, certificates, proxies, source addresses and metadata hold for the question as they hold for
the load.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcSchema, Origin
from plimsoll.errors import UsageError
from plimsoll.load.engine_check import refusal
from plimsoll.load.guard_rails import HEADER
from plimsoll.load.mistakes import nearest, shown
from plimsoll.load.origins import grpc_url
from plimsoll.load.protocols import grpc
from plimsoll.load.protocols.tls import tls_settings
from plimsoll.load.url import check
from plimsoll.plain_text import one_line
from plimsoll.report.text import cut
from plimsoll.run.grpc_call import call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.run.grpc_call import CallResult
    from plimsoll.run.plan import RunPlan

TIMEOUT_S = 10.0
"""For each question."""
MOST_LISTED = 12
"""Services that an error names."""
LONGEST = 500
"""Characters of a target's words in an error."""
MOST_FILES, MOST_BYTES = 10_000, 64 << 20
"""The largest schema, and the bytes of all answers to one group of questions. A target could go on naming files that
others import."""
NAMES = tuple(f"grpc.reflection.{version}.ServerReflection/ServerReflectionInfo" for version in ("v1", "v1alpha"))
"""The second one is asked where there is no first one. They differ in nothing but their names."""
_CLOSED = "connection closed"
"""Part of the engine's error for a server that ends a handshake, as one does that misses the client's certificate."""
_NOT_FOUND = grpc.CODES["NOT_FOUND"]
_MESSAGES = """
syntax = "proto3";
message Request {
  oneof question { string file_by_filename = 3; string file_containing_symbol = 4; string list_services = 7; }
}
message Response {
  Files file_descriptor_response = 4;
  Services list_services_response = 6;
  Refusal error_response = 7;
}
message Files { repeated bytes file_descriptor_proto = 1; }
message Services { repeated Service service = 1; }
message Service { string name = 1; }
message Refusal { int32 error_code = 1; string error_message = 2; }
message File { string name = 1; repeated string dependency = 3; }  // part of google.protobuf.FileDescriptorProto
message FileSet { repeated bytes file = 1; }                       // google.protobuf.FileDescriptorSet
service Messages { rpc Ask(Request) returns (Response); rpc Read(FileSet) returns (File); }
"""

Question = tuple[str, str]
"""The name of a field of Request, and its value."""


def with_schema(plan: RunPlan) -> RunPlan:
    """The plan with the schema of its calls. If it has none, their targets are asked, so it must have passed its guard
    rails. Raises UsageError."""
    scenario = plan.scenario
    if scenario is None or not grpc.needs_schema(scenario):
        return plan
    files = _Files()
    for index, calls in grpc.calls_by_target(scenario).items():
        target = scenario["targets"][index]
        url = grpc_url(target["url"])
        try:
            _Target(plan, target, calls, files).ask(grpc.services_of(calls))
        except UnknownServiceError as error:
            raise UsageError(f"{url} {_quoted(error)}") from error
        except ReflectionError as error:
            instead = f'write proto = "FILE" into {plan.source}' if _is_file(plan) else "--proto FILE"
            why = _quoted(error)
            if target["url"].startswith("https:") and not target.get("cert") and _CLOSED in why:
                own = f"cert in {plan.source}" if _is_file(plan) else "--cert FILE --key FILE"
                why = f"{why}; if it asks for a certificate of the client, name one: {own}"
            raise UsageError(f"cannot ask {url} for its schema: {why}; name a file with it: {instead}") from error
    try:
        schema = files.schema()
    except ValueError as error:
        raise UsageError(f"the schema that server reflection gives cannot be used: {_quoted(error)}") from error
    known = {**scenario, "schema": grpc.text_of(schema, scenario["flows"])}
    if refused := refusal(known):
        _complain(plan, known, refused)
    return replace(plan, scenario=known)


class ReflectionError(Exception):
    """Why a target does not give its schema."""


class UnknownServiceError(ReflectionError):
    """The target has no service of that name."""


class _Files:
    """The files that were given so far, in base64, by name."""

    def __init__(self) -> None:
        messages = GrpcSchema.from_text(_MESSAGES)
        self.messages, self._file = messages.method("Messages/Ask"), messages.method("Messages/Read")
        self._known: dict[str, str] = {}
        self._imports: dict[str, None] = {}
        self._size = 0

    def add(self, files: Iterable[str]) -> None:
        """Raises ReflectionError for a file that is another one than that of the same name, or one too many."""
        for file in files:
            self._size += len(file)
            if len(self._known) == MOST_FILES or self._size > MOST_BYTES:
                raise ReflectionError(f"it has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB")
            try:
                read = self._file.decode(base64.b64decode(file))
            except ValueError as error:
                raise ReflectionError(f"it gives a file that cannot be read: {error}") from error
            name = str(read["name"])
            # Each language comes with its own form of Google's files.
            if self._known.setdefault(name, file) != file and not name.startswith("google/protobuf/"):
                raise ReflectionError(f"it gives another {name} than the target before")
            self._imports |= dict.fromkeys(read["dependency"])

    def missing(self) -> list[str]:
        """What they import and is not known."""
        return [name for name in self._imports if name not in self._known]

    def schema(self) -> GrpcSchema:
        """Raises ValueError."""
        return GrpcSchema(self._file.encode(json.dumps({"file": list(self._known.values())})))


class _Target:
    """A target that is asked."""

    def __init__(
        self, plan: RunPlan, target: Mapping[str, Any], calls: Iterable[Mapping[str, Any]], files: _Files
    ) -> None:
        self._files = files
        self._allowed = plan.rails.allowed_hosts()
        self._headers = [*_headers(target, *calls), *([] if plan.header is None else [(HEADER, plan.header)])]
        given = {**tls_settings(target), "proxy": target.get("proxy")}
        source = next(iter(plan.source_addresses), None)
        try:
            self._origin = Origin(target["url"], **given, source=source, http2=True)
        except ValueError as error:
            raise UsageError(str(error)) from error
        self._name = NAMES[0]

    def ask(self, services: Sequence[str]) -> None:
        """Add the files of these services, and all that they import. Raises ReflectionError."""
        replies = self._exchange([("list_services", "*"), *(("file_containing_symbol", each) for each in services)])
        listing, *found = replies
        for service, reply in zip(services, found, strict=True):
            if (refused := reply.get("error_response")) and refused["error_code"] != _NOT_FOUND:
                raise ReflectionError(f"{service}: {refused['error_message']}")
            if "file_descriptor_response" not in reply:
                known = [each["name"] for each in listing.get("list_services_response", {}).get("service", ())]
                raise UnknownServiceError(_unknown(service, known))
            self._files.add(reply["file_descriptor_response"]["file_descriptor_proto"])
        while missing := self._files.missing():
            for reply in self._exchange([("file_by_filename", name) for name in missing]):
                self._files.add(reply.get("file_descriptor_response", {}).get("file_descriptor_proto", ()))
            if (left := self._files.missing()) and left[0] in missing:
                raise ReflectionError(f"it does not give the file {left[0]}, which others of it import")

    def _exchange(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """A reply to each question. Some servers end the call instead of answering one: then that reply is empty."""
        messages = [self._files.messages.encode(json.dumps(dict([each]))) for each in questions]
        answer = self._call(messages)
        if answer.code == "UNIMPLEMENTED" and self._name == NAMES[0]:
            self._name = NAMES[1]
            answer = self._call(messages)
        if answer.code == "UNIMPLEMENTED":
            raise ReflectionError("it has no server reflection")
        is_not_found = answer.code == "NOT_FOUND"
        if answer.wrong and not is_not_found:
            raise ReflectionError(answer.wrong)
        try:
            replies = [dict(self._files.messages.decode(each)) for each in answer.messages]
        except ValueError as error:
            raise ReflectionError(f"the reply cannot be read: {error}") from error
        if len(replies) != len(questions) and not is_not_found:
            raise ReflectionError(f"it answers {len(replies)} of {len(questions)} questions")
        return [*replies, *({} for _ in questions)][: len(questions)]

    def _call(self, messages: Sequence[bytes]) -> CallResult:
        try:
            return call(
                self._origin,
                self._name,
                messages,
                TIMEOUT_S,
                headers=self._headers,
                allowed=self._allowed,
                most=MOST_BYTES,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error


def _headers(*of: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Metadata of a target and of its calls, without variables: the question may need a token, too."""
    lines = (line for each in of for line in each.get("headers") or ())
    return list(dict.fromkeys((name, value) for name, value in lines if "$" not in value))


def _quoted(error: Exception) -> str:
    """What is wrong, in the words of a target."""
    return cut(one_line(str(error)), LONGEST)


def _unknown(service: str, known: Sequence[str]) -> str:
    if meant := nearest(service, known):
        return f"has no service {shown(service)}; did you mean {shown(meant)}?"
    if not known:
        return f"has no service {shown(service)}"
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"has no service {shown(service)}; there are {', '.join(known[:MOST_LISTED])}{more}"


def _is_file(plan: RunPlan) -> bool:
    return plan.source is not None and "://" not in plan.source


def _complain(plan: RunPlan, known: dict[str, Any], refused: tuple[str, str]) -> None:
    """Raises UsageError: the option, or the file and line, with what does not fit the schema."""
    if not _is_file(plan):
        check(known)
    source = Path(plan.source or "")
    if source.suffix == ".toml" and source.is_file():
        # Only here: pydantic, which reads plans, takes long to import.
        from plimsoll.load.plan_file import read_plan

        read_plan(str(source), known["targets"][0]["url"], known["schema"])
    raise UsageError(f"{source}: {': '.join(refused)}")
