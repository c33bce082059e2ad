"""Calls whose schema is asked of their targets, from the command line to the report."""

from __future__ import annotations

import base64
import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf import descriptor_pb2
from grpc_reflection.v1alpha import reflection_pb2
from tests.grpc_server import PROTO, SERVICE, GrpcServer, Reflection, descriptors

from plimsoll._engine import GrpcSchema
from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import GuardRails, HostPatterns
from plimsoll.load.plan_file import read_plan
from plimsoll.load.url import grpc_scenario
from plimsoll.run import reflection
from plimsoll.run.plan import RunPlan
from plimsoll.run.reflection import with_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command

SAY = f"{SERVICE}/Say"


@pytest.fixture
def server() -> Iterator[GrpcServer]:
    found = GrpcServer(reflection=["v1"])
    yield found
    found.close()


def url_of(server: GrpcServer, method: str = SAY) -> str:
    return f"grpc://{server.place}/{method}"


def plan_of(url: str, **more: Any) -> RunPlan:
    return RunPlan(scenario=grpc_scenario(url), source=url, **more)


def refused(plan: RunPlan) -> str:
    with pytest.raises(UsageError) as caught:
        with_schema(plan)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("versions", [["v1"], ["v1alpha"], ["v1", "v1alpha"]])
def test_a_url_needs_no_file(plimsoll: Command, versions: list[str]) -> None:
    server = GrpcServer(reflection=versions)
    done = plimsoll("run", url_of(server), "-d", '{"text": "x"}', "--iterations", "5", "--headless", "--summary", "-")
    server.close()
    assert done.code == 0, done
    (row,) = json.loads(done.out)["endpoints"]
    assert (row["name"], row["requests"]) == (SAY, 5)
    assert (server.counts, server.texts, server.reflection.calls) == ({"Say": 5}, ["x"] * 5, 1)


def test_the_schema_is_part_of_the_plan_and_has_what_the_calls_need(server: GrpcServer) -> None:
    plan = with_schema(plan_of(url_of(server)))
    assert plan.scenario is not None
    found = GrpcSchema(base64.b64decode(plan.scenario["schema"]))
    assert found.methods() == GrpcSchema.read([str(PROTO)], []).methods()
    server.close()
    assert with_schema(plan) is plan, "it is asked once"


def test_a_plan_needs_no_file_and_workers_ask_nobody(plimsoll: Command, server: GrpcServer) -> None:
    other = GrpcServer(reflection=["v1alpha"])
    plan = plimsoll.write(
        f"""
        target = "grpc://{server.place}"
        [[flow.step]]
        grpc = "{SAY}"
        message = {{ text = "${{user}}" }}
        expect.json = {{ "/kind" = "KIND_ECHO" }}
        [[flow.step]]
        grpc = "grpc://{other.place}/{SERVICE}/List"
        message = {{ count = 3 }}
        """,
        "plan.toml",
    )
    done = plimsoll("run", str(plan), "-u", "4", "--iterations", "8", "--processes", "2", "--headless")
    other.close()
    assert done.code == 0, done
    assert (server.counts, other.counts) == ({"Say": 8}, {"List": 8})
    assert (server.reflection.calls, other.reflection.calls) == (1, 1)


def test_the_question_has_the_metadata_of_the_calls_and_says_who_asks(plimsoll: Command, server: GrpcServer) -> None:
    options = ["--header", "authorization: Bearer x", "--header", "x-each: ${uuid}", "--identify", "me@example.com"]
    assert plimsoll("run", url_of(server), *options, "--iterations", "1", "--headless").code == 0
    metadata = server.reflection.metadata
    assert metadata["authorization"] == "Bearer x" and "x-each" not in metadata
    assert metadata["x-load-test"].endswith("contact=me@example.com")


def test_nothing_is_asked_by_a_dry_run(plimsoll: Command, server: GrpcServer) -> None:
    command = ["run", url_of(server), "-d", '{"no_such_field": 1}', "--dry-run"]
    done = plimsoll(*command)
    assert done.code == 0, done
    assert f"Schema       asked of grpc://{server.place} by server reflection when the run begins\n" in done.out
    assert json.loads(plimsoll(*command, "--summary", "-").out)["reflection"] == [f"grpc://{server.place}"]
    with_file = plimsoll("run", url_of(server), "--proto", str(PROTO), "--dry-run")
    assert "reflection" not in with_file.out
    assert server.reflection.calls == 0


def test_a_host_that_is_not_allowed_is_not_asked(plimsoll: Command, server: GrpcServer) -> None:
    done = plimsoll("run", url_of(server), "--allow-hosts", "10.0.0.0/8", "--iterations", "1", "--headless")
    assert (done.code, done.err) == (
        2,
        "plimsoll: not allowed: 127.0.0.1 is not in the allowed hosts; allow it with --allow-hosts\n",
    )
    # Nor is a name that resolves to another address once the plan was checked.
    rails = GuardRails(hosts=(HostPatterns(("10.0.0.0/8",)),))
    assert "not allowed: 127.0.0.1 is not in the allowed hosts" in refused(plan_of(url_of(server), rails=rails))
    assert server.reflection.calls == 0


def test_a_target_that_gives_no_schema_is_one_line_with_what_to_do(tmp_path: Path) -> None:
    server = GrpcServer()
    start, end = "cannot ask {} for its schema: ", "; name a file with it: {}"
    url = f"grpc://{server.place}"
    no_reflection = f"{start.format(url)}it has no server reflection{end}"
    assert refused(plan_of(url_of(server))) == no_reflection.format("--proto FILE")
    file = tmp_path / "plan.toml"
    file.write_text(f'target = "{url}"\nrequest.grpc = "{SAY}"')
    plan = RunPlan(scenario=read_plan(str(file)).scenario, source=str(file))
    assert refused(plan) == no_reflection.format(f'write proto = "FILE" into {file}')
    server.close()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"grpc://127.0.0.1:{listener.getsockname()[1]}"
    assert refused(plan_of(f"{url}/{SAY}")) == f"{start.format(url)}Connection refused{end.format('--proto FILE')}"


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("echo.v1.Ecko/Say", f'has no service "echo.v1.Ecko"; did you mean "{SERVICE}"?'),
        ("x/Say", f'has no service "x"; there are {SERVICE}, grpc.reflection.v1.ServerReflection'),
        (f"{SERVICE}/Sya", f'URL: {SERVICE} has no method "Sya"; did you mean "Say"?'),
    ],
)
def test_a_name_that_the_target_does_not_know_is_told_with_those_it_knows(
    server: GrpcServer, method: str, wrong: str
) -> None:
    assert wrong in refused(plan_of(url_of(server, method)))


def test_a_message_that_does_not_fit_is_told_with_its_option_or_line(server: GrpcServer, tmp_path: Path) -> None:
    url = url_of(server)
    plan = RunPlan(scenario=grpc_scenario(url, message='{"txt": 1}'), source=url)
    assert refused(plan) == '--body: echo.v1.Request has no field "txt"; did you mean "text"?'
    file = tmp_path / "plan.toml"
    file.write_text(f'target = "grpc://{server.place}"\n[[request]]\ngrpc = "{SAY}"\nmessage = {{ txt = 1 }}\n')
    plan = RunPlan(scenario=read_plan(str(file)).scenario, source=str(file))
    assert refused(plan) == f'{file}:4: request[0].message: echo.v1.Request has no field "txt"; did you mean "text"?'
    file.unlink()
    assert 'echo.v1.Request has no field "txt"' in refused(plan)


def test_over_tls_the_certificate_is_checked_as_that_of_the_load(certificate: tuple[str, str]) -> None:
    chain, key = (Path(each).read_bytes() for each in certificate)
    server = GrpcServer((key, chain), reflection=["v1"])
    url = f"grpcs://{server.place}/{SAY}"
    scenario = grpc_scenario(url)
    assert f"cannot ask grpcs://{server.place} for its schema: " in refused(plan_of(url))
    scenario["targets"][0]["verify"] = False
    assert with_schema(RunPlan(scenario=scenario, source=url)).scenario != scenario
    server.close()


@pytest.fixture
def mutual(certificate: tuple[str, str]) -> Iterator[GrpcServer]:
    """A server that wants a certificate of its clients."""
    chain, key = (Path(each).read_bytes() for each in certificate)
    server = GrpcServer((key, chain), reflection=["v1"], authority=chain)
    yield server
    server.close()


def test_a_client_certificate_in_two_files_is_shown_to_the_one_that_is_asked(
    plimsoll: Command, mutual: GrpcServer, certificate: tuple[str, str]
) -> None:
    own, key = certificate
    plan = plimsoll.write(
        f"""
        [[target]]
        url = "grpcs://{mutual.place}"
        verify = "{own}"
        cert = ["{own}", "{key}"]
        [[request]]
        grpc = "{SAY}"
        """,
        "plan.toml",
    )
    done = plimsoll("run", str(plan), "--iterations", "3", "--headless")
    assert done.code == 0, done
    assert (mutual.counts, mutual.reflection.calls) == ({"Say": 3}, 1)


def test_a_url_has_options_for_its_certificates(
    plimsoll: Command, mutual: GrpcServer, certificate: tuple[str, str]
) -> None:
    own, key = certificate
    url = f"grpcs://{mutual.place}/{SAY}"
    short = ["--iterations", "3", "--headless"]
    done = plimsoll("run", url, "--cacert", own, "--cert", own, "--key", key, *short)
    assert done.code == 0, done
    assert (mutual.counts, mutual.reflection.calls) == ({"Say": 3}, 1)
    without = plimsoll("run", url, "--cacert", own, *short)
    assert without.code == 2
    assert "if it asks for a certificate of the client, name one: --cert FILE --key FILE" in without.err


class OneByOne(Reflection):
    """Gives each file alone, as some servers do, and ends the call at a name that it does not know."""

    def ask(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        self.calls += 1
        for request in requests:
            if request.HasField("list_services"):
                yield self._list_services(request)
                continue
            try:
                yield self.file_alone(request)
            except KeyError:
                context.abort(grpc.StatusCode.NOT_FOUND, "unknown")

    def file_alone(self, request: Any) -> Any:
        pool = descriptors()
        if request.HasField("file_by_filename"):
            file = pool.FindFileByName(request.file_by_filename)
        else:
            file = pool.FindFileContainingSymbol(request.file_containing_symbol)
        response = reflection_pb2.ServerReflectionResponse()
        response.file_descriptor_response.file_descriptor_proto.append(file.serialized_pb)
        return response


class WithoutImports(OneByOne):
    """Does not give the files that others import."""

    def file_alone(self, request: Any) -> Any:
        if request.HasField("file_by_filename"):
            raise KeyError(request.file_by_filename)
        return super().file_alone(request)


class AnotherFile(OneByOne):
    """Has another file of the same name."""

    def file_alone(self, request: Any) -> Any:
        response = super().file_alone(request)
        files = response.file_descriptor_response.file_descriptor_proto
        files[0] += descriptor_pb2.FileDescriptorProto(message_type=[{"name": "More"}]).SerializeToString()
        return response


class Unreadable(OneByOne):
    """Gives what is no file."""

    def file_alone(self, request: Any) -> Any:
        response = super().file_alone(request)
        response.file_descriptor_response.file_descriptor_proto[0] = b"\x08"
        return response


class Forbidding(OneByOne):
    """Refuses to give its files."""

    def file_alone(self, request: Any) -> Any:
        response = reflection_pb2.ServerReflectionResponse()
        response.error_response.error_code = grpc.StatusCode.PERMISSION_DENIED.value[0]
        response.error_response.error_message = "not for you"
        return response


class Endless(OneByOne):
    """Each of its files imports another one, which nobody has asked for yet."""

    def file_alone(self, request: Any) -> Any:
        name = request.file_by_filename or "0"
        file = descriptor_pb2.FileDescriptorProto(name=name, dependency=[f"{int(name) + 1}"])
        response = reflection_pb2.ServerReflectionResponse()
        response.file_descriptor_response.file_descriptor_proto.append(file.SerializeToString())
        return response


class Talkative(OneByOne):
    """Answers each question with a long text."""

    def file_alone(self, request: Any) -> Any:
        response = super().file_alone(request)
        response.error_response.error_message = "x" * 100_000
        return response


class Hostile(Forbidding):
    """Refuses with a long text that clears a terminal."""

    def file_alone(self, request: Any) -> Any:
        response = super().file_alone(request)
        response.error_response.error_message = "\x1b[2J" + "x" * 100_000
        return response


def test_a_server_may_give_each_file_alone() -> None:
    server = GrpcServer(reflection=["v1"], service=OneByOne())
    plan = with_schema(plan_of(url_of(server)))
    assert plan.scenario is not None and plan.scenario["schema"]
    assert server.reflection.calls == 2
    assert 'has no service "echo.v1.Ecko"; did you mean' in refused(plan_of(url_of(server, "echo.v1.Ecko/Say")))
    server.close()


@pytest.mark.parametrize(
    ("service", "wrong"),
    [
        (WithoutImports, "it does not give the file google/protobuf/timestamp.proto, which others of it import"),
        (Forbidding, f"{SERVICE}: not for you; name a file with it: --proto FILE"),
        (Unreadable, "it gives a file that cannot be read: File: "),
    ],
)
def test_a_schema_that_is_none_is_told(service: type[Reflection], wrong: str) -> None:
    server = GrpcServer(reflection=["v1"], service=service())
    assert f"cannot ask grpc://{server.place} for its schema: {wrong}" in refused(plan_of(url_of(server)))
    server.close()


@pytest.mark.parametrize(("name", "value", "size"), [("MOST_FILES", 20, "20 files"), ("MOST_BYTES", 1000, "0 MiB")])
def test_a_schema_without_an_end_is_refused(name: str, value: int, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflection, name, value)
    server = GrpcServer(reflection=["v1"], service=Endless())
    assert size in refused(plan_of(url_of(server)))
    server.close()


def test_answers_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflection, "MOST_BYTES", 50_000)
    server = GrpcServer(reflection=["v1"], service=Talkative())
    where = f"cannot ask grpc://{server.place} for its schema: "
    assert f"{where}the response body is over the limit of 50000 bytes" in refused(plan_of(url_of(server)))
    server.close()


def test_what_a_server_says_is_short_and_does_not_steer_the_terminal(plimsoll: Command) -> None:
    server = GrpcServer(reflection=["v1"], service=Hostile())
    done = plimsoll("run", url_of(server), "--headless")
    server.close()
    assert (done.code, "\x1b" in done.err) == (2, False)
    assert len(done.err) < 800
    assert "\ufffd[2Jxxx" in done.err


def test_targets_must_agree_on_their_files(server: GrpcServer, tmp_path: Path) -> None:
    other = GrpcServer(reflection=["v1"], service=AnotherFile())
    file = tmp_path / "plan.toml"
    calls = [f'[[request]]\ngrpc = "grpc://{each.place}/{SAY}"\n' for each in (server, other)]
    file.write_text("".join(calls))
    plan = RunPlan(scenario=read_plan(str(file)).scenario, source=str(file))
    assert f"cannot ask grpc://{other.place} for its schema: it gives another " in refused(plan)
    other.close()
