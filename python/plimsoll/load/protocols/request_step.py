"""Steps of a plan that are a request over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from plimsoll.load.bodies import encoded, form_template, is_method, json_template
from plimsoll.load.file_access import read_text
from plimsoll.load.mistakes import BadValueError, at, shown
from plimsoll.load.origins import is_grpc_url, is_socket_url, is_url, split_url
from plimsoll.load.protocols.request_bodies import (
    ERRORS,
    Parts,
    document_of,
    graphql_body,
    multipart_body,
    operations_of,
)
from plimsoll.load.spec import OBJECTIVES
from plimsoll.load.step_model import StepTable
from plimsoll.load.table import ExistingFile, JsonBody, Length, SeveralTexts, TomlTable, folder_of
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.load.protocols.draft import Draft

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
"""Methods that are fields of a step: get = "/path"."""
_BODIES = ("body", "json", "form", "multipart", "graphql", "body_file", "template_file")


class SloTable(TomlTable):
    """slo = { first_token = "500ms", time_per_token = "50ms" }"""

    first_token: Length | None = None
    """Longest time to the first token."""
    time_per_token: Length | None = None
    """Longest time per token after the first one."""
    time: Length | None = None
    """Longest time of the whole request."""

    @model_validator(mode="after")
    def _check(self) -> SloTable:
        if not self.definition():
            raise BadValueError(f"needs at least one of {listed(OBJECTIVES, 'or')}")
        return self

    def definition(self) -> dict[str, float]:
        """In the format for native users."""
        return {name: self.value(name) for name in self.given(OBJECTIVES)}


class RequestStep(StepTable):
    """[[flow.step]] with get, post, …: a request."""

    called: ClassVar = "a request"

    get: str | None = None
    """The path, or a whole URL. A step has one of `get`, `post`, …, or `method` and `path`."""
    post: str | None = None
    """The same with POST."""
    put: str | None = None
    """The same with PUT."""
    patch: str | None = None
    """The same with PATCH."""
    delete: str | None = None
    """The same with DELETE."""
    head: str | None = None
    """The same with HEAD."""
    options: str | None = None
    """The same with OPTIONS."""
    method: str | None = None
    """Another method, with `path`: `"PURGE"`."""
    path: str | None = None
    """The path, or a whole URL, of `method`."""
    body: str | None = None
    """Text."""
    json_: JsonBody | None = Field(None, alias="json")
    """A table, or JSON in a string. Values of variables are escaped inside quotes. The default Content-Type is
    `application/json`."""
    form: dict[str, SeveralTexts] | None = None
    """Names and values of a form; a list for a name that is sent several times. They are encoded, also values of
    variables. The default Content-Type is `application/x-www-form-urlencoded`."""
    multipart: Parts | None = None
    """Names and values of a form with files: texts, or `{ file = "a.png", type = "image/png", name = "b.png" }`; a list
    for a name that is sent several times. Texts may have variables."""
    graphql: str | None = None
    """An operation of GraphQL, or the name of a file (`"list.graphql"`) with it. A reply with `errors` fails as
    `assertion`, unless `expect.absent` says what must be absent. The row has the name of the operation."""
    variables: JsonBody | None = None
    """With `graphql`: a table, or JSON in a string, with the values of the operation's variables."""
    operation_name: Annotated[str, Field(min_length=1)] | None = None
    """With `graphql`: the name of the operation that is sent, if there are several."""
    body_file: ExistingFile | None = None
    """A file that is sent unchanged."""
    template_file: ExistingFile | None = None
    """A file with variables; like `json` if its name ends in `.json`, else like `body`."""
    stream: Literal["sse", "lines", "llm"] | None = None
    """The response is a stream of events: `"sse"` (server-sent events), `"lines"` (each line that is not empty, as
    NDJSON) or `"llm"` (a chat completion in OpenAI's format, as server-sent events). The step ends with the body; rows
    beside that of the request count what comes before. `expect` and `extract` cannot read the body."""
    slo: SloTable | None = None
    """With `stream = "llm"`: what a request must keep to be in the row `good request`."""

    _body: dict[str, Any] | None = PrivateAttr(None)
    _content_type: str | None = PrivateAttr(None)
    _document: str = PrivateAttr("")

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> RequestStep:
        self._check_method()
        self._check_path()
        for status in (self.expect and self.expect.status) or ():
            if isinstance(status, str):
                raise BadValueError(f"{status} is a status of gRPC; it belongs with grpc", "expect.status")
        given = self.given(_BODIES)
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a request has one of {listed(_BODIES, 'or')}", given[1])
        if self.slo is not None and self.stream != "llm":
            raise BadValueError('belongs with stream = "llm"', "slo")
        self._check_graphql(info)
        self._body = self._read_body()
        return self

    def _check_graphql(self, info: ValidationInfo) -> None:
        if self.graphql is None:
            for name in self.given(("variables", "operation_name")):
                raise BadValueError("belongs with graphql", name)
            return
        if self.stream is not None:
            raise BadValueError("contradicts graphql, whose reply is read", "stream")
        self._document = at("graphql", lambda text: document_of(text, folder_of(info)), self.graphql)

    def _check_method(self) -> None:
        given = self.given((*METHODS, "path"))
        if not given:
            needs = 'get = "/path" (or post, put, …), or method and path, connect or grpc'
            why = f"says not what to request; it needs {needs}"
            raise BadValueError(why, "" if self.method is None else "method")
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a step is one request", given[1])
        if self.path is not None and self.method is None:
            raise BadValueError('belongs with a method, as in method = "PURGE"', "path")
        if self.path is None and self.method is not None:
            raise BadValueError(f"belongs with path; {given[0]} is a method already", "method")
        if self.method is not None and not is_method(self.method):
            raise BadValueError(f"{shown(self.method)} cannot be a method", "method")

    def _check_path(self) -> None:
        if is_url(self.where) or is_socket_url(self.where) or is_grpc_url(self.where):
            if self.target is not None:
                raise BadValueError(f"contradicts {self.maker}, which is a whole URL", "target")
            at(self.maker, split_url, self.where)
        elif not self._is_path:
            raise BadValueError(f'{shown(self.where)} must begin with "/", or be a whole URL', self.maker)

    def _read_body(self) -> dict[str, Any] | None:
        if self.body is not None:
            return {"text": self.body}
        if self.json_ is not None:
            return {"json": self.json_}
        if self.form is not None:
            return {"form": form_template(self.form)}
        if self.graphql is not None:
            return {"json": graphql_body(self._document, self.variables, self.operation_name)}
        if self.multipart is not None:
            self._content_type, body = at("multipart", multipart_body, self.multipart)
            if any(name.lower() == "content-type" for name in self.headers):
                raise BadValueError("contradicts multipart, which has its own Content-Type", "headers")
            return body
        if self.body_file is not None:
            try:
                return encoded(self.body_file.read_bytes())
            except OSError as error:
                raise BadValueError(f"cannot read {self.body_file}: {error.strerror}", "body_file") from error
        return None if self.template_file is None else at("template_file", _template, self.template_file)

    @property
    def maker(self) -> str:
        return self.given((*METHODS, "path"))[0]

    @property
    def where(self) -> str:
        """The path, or the whole URL."""
        return str(self.value(self.maker))

    @property
    def _is_path(self) -> bool:
        return self.where.startswith("/") or (self.maker, self.where) == ("options", "*")

    @property
    def body_field(self) -> str:
        return next(iter(self.given(_BODIES)), "body")

    def lines(self) -> list[list[str]]:
        own = [] if self._content_type is None else [["Content-Type", self._content_type]]
        return [*super().lines(), *own]

    def common(self, draft: Draft, body: dict[str, Any] | None) -> dict[str, Any]:
        common = super().common(draft, body)
        if self.graphql is not None:
            common["expect"] = {"absent": [ERRORS], **common["expect"]}
        return common

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        address = None if self._is_path else split_url(self.where)
        target, target_path = draft.locate(self, self.where, path, address)
        return {
            "name": self.name or self.operation_name or next(iter(operations_of(self._document)), self.where),
            "target": target,
            "method": self.method or self.maker.upper(),
            "path": target_path,
            "headers": self.lines(),
            **self.common(draft, self._body),
            **({} if self.stream is None else {"stream": self.stream}),
            **({} if self.slo is None else {"slo": self.slo.definition()}),
        }

    def sources(self, path: str, field: str) -> dict[str, str]:
        method = {f"{field}.method": f"{path}.method"} if self.method else {}
        return super().sources(path, field) | method


def _template(file: Path) -> dict[str, str]:
    text = read_text(file)
    return {"json": json_template(text)} if file.suffix == ".json" else {"text": text}
