"""Records what an engine does under load, so that the compiler knows which code runs often.

    python -m scripts.training [--out target/training/engine.profdata]

Builds an engine that counts its branches, sends a fixed number of requests of each kind to servers on this machine, and
merges the counts into a profile for `-Cprofile-use`. The servers are those of benches, labs and tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import zipfile
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.build_backend import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TARGET = "x86_64-unknown-linux-gnu"
"""Where the engine is trained. The name of a function depends on the target, so a profile serves no other."""
FOLDER = ROOT / "target" / "training"
PROFILE = FOLDER / "engine.profdata"
LOCUSTFILES = ROOT / "benches" / "locustfiles"
USERS = ("-u", "20", "-r", "1000")
PLAN = """
target = "{nginx}"
[feeder.customer]
rows = [{{ name = "a", age = 5 }}, {{ name = "b", age = 7 }}]
[[flow]]
[[flow.step]]
name = "order"
post = "/orders/${{iteration}}"
json = {{ customer = "${{customer.name}}", age = "${{customer.age}}", id = "${{uuid}}" }}
headers = {{ Accept = "application/json", X-Request-Id = "${{random}}" }}
extract.id = {{ json = "/order/id" }}
extract.currency = {{ jsonpath = "$.order.currency" }}
expect = {{ status = "2xx", max_time = "10s" }}
[[flow.step]]
get = "{truth}/chunked?n=2000&chunk=100&id=${{id}}"
name = "chunked"
expect.contains = "a"
[[flow.step]]
get = "{truth}/gzip?n=2000"
expect = {{ status = [200, "202-204"], lacks = ["denied"] }}
[[flow.step]]
get = "{truth}/redirect?n=1"
expect.status = "3xx"
[[flow.step]]
get = "{truth}/cookies"
[[flow.step]]
get = "{truth}/status?code=503"
expect.status = 503
"""


@dataclass(frozen=True)
class Load:
    """One run. Its length is a number of requests, so that a slow machine records the same."""

    words: Sequence[str]
    """Of `plimsoll run`."""
    environment: Mapping[str, str] = field(default_factory=dict)


def loads(urls: Mapping[str, str], folder: Path) -> Iterator[Load]:
    """Every kind of load. The usual ones have more requests: the compiler favours what runs more often.

    urls: of the servers, by their names. folder: for files.
    """
    small, large = (f"{urls['nginx']}/{name}" for name in ("small", "large"))
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format_map(urls))
    yield Load((small, "--iterations", "60000"))
    yield Load((large, "--iterations", "20000"))
    yield Load((small, "--rate", "4000/s", "-t", "3s", "--log-exchanges", "exchanges.parquet"))
    yield Load((str(plan), "--iterations", "3000"))
    yield Load((f"{urls['http2']}/small", "--http2", "--users-per-connection", "10", "--iterations", "20000"))
    yield Load((f"{urls['tls']}/item", "--insecure", "--iterations", "3000"))
    yield Load((f"grpc://{urls['grpc']}/echo.v1.Echo/Say", "-d", '{"text": "a"}', *PROTO, "--iterations", "3000"))
    yield Load((f"ws://{urls['websocket']}/chat", "--message", '{"n": ${iteration}}', "--iterations", "3000"))
    yield Load((f"{urls['truth']}/events?n=20&first_ms=0&every_ms=1", "--stream", "sse", "--iterations", "500"))
    for user in ("TrivialHttp", "TrivialFast"):
        yield python_users("trivial.py", user, urls["nginx"], 20_000)
    for user in ("RealisticHttp", "RealisticFast"):
        yield python_users("realistic.py", user, urls["nginx"], 10_000)


PROTO = ("--proto", str(ROOT / "tests" / "echo.proto"))


def python_users(file: str, user: str, url: str, iterations: int) -> Load:
    words = ("-f", str(LOCUSTFILES / file), user, "-H", url, "--iterations", str(iterations))
    return Load(words, {"BENCH_PATH": "/small"})


READ = (
    ("report", "last", "--format", "html", "-o", "run.html"),
    ("export", "last", "--format", "run.json", "-o", "run.json"),
    ("show", "last"),
)
"""Commands that read the histograms of the last run."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.training", description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=PROFILE)
    out = parser.parse_args().out
    merge = profdata()
    with tempfile.TemporaryDirectory(prefix="plimsoll-training-") as name, ExitStack() as stack:
        folder = Path(name)
        urls = servers(stack, folder)  # before the build: one that is missing is known at once
        package = counting_engine(folder)
        say("recording what it does under load (two minutes)")
        record(package, urls, folder)
        out.parent.mkdir(parents=True, exist_ok=True)
        run([str(merge), "merge", "-o", str(out), *map(str, folder.glob("*.profraw"))])
    say(f"{out.relative_to(ROOT) if out.is_relative_to(ROOT) else out}: {out.stat().st_size / 1e6:.1f} MB")


def profdata() -> Path:
    """The program that merges profiles, of the active Rust toolchain. Ends the process if it cannot be had."""
    done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
    found = Path(done.stdout.strip(), "lib", "rustlib", TARGET, "bin", "llvm-profdata")
    if not found.is_file() and shutil.which("rustup"):
        subprocess.run(["rustup", "--quiet", "component", "add", "llvm-tools"], check=False)
    if not found.is_file():
        sys.exit(
            "training: llvm-profdata is missing: rustup component add llvm-tools (or build without a profile: "
            "python -m scripts.wheels --no-profile)"
        )
    return found


def counting_engine(folder: Path) -> Path:
    """Builds a package whose engine counts. Returns the folder to import it from."""
    say("building an engine that counts (three minutes)")
    build = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--target", TARGET]
    # In a folder of its own, so that the builds of developers stay as they are.
    flags = {"RUSTFLAGS": "-Cprofile-generate", "CARGO_TARGET_DIR": str(FOLDER)}
    run([*build, "--compatibility", "linux", "--out", str(folder)], flags)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "package")
    return folder / "package"


def record(package: Path, urls: Mapping[str, str], folder: Path) -> None:
    """Runs every load with the engine of this package. Each process leaves its counts in `folder`."""
    # Before the folder of the editable installation.
    counting = {"PYTHONPATH": str(package), "LLVM_PROFILE_FILE": str(folder / "%p-%m.profraw")}
    plimsoll = [sys.executable, "-m", "plimsoll"]
    for load in loads(urls, folder):
        options = ["--headless", *(() if "--rate" in load.words else USERS), "--exit-code-on-invalid", "0"]
        run([*plimsoll, "run", *load.words, *options], counting | load.environment, folder)
        for words in READ:
            run([*plimsoll, *words], counting, folder)


def servers(stack: ExitStack, folder: Path) -> dict[str, str]:
    """Starts them. They end with `stack`."""
    from benches.errors import BenchError
    from benches.nginx import running_nginx
    from labs.truth.errors import TruthError
    from labs.truth.target_process import running_target
    from tests.grpc_server import GrpcServer
    from tests.socket_server import EchoServer

    try:
        nginx = stack.enter_context(running_nginx())
        truth = stack.enter_context(running_target())
    except (BenchError, TruthError) as error:
        sys.exit(f"training: {error}")
    grpc = stack.enter_context(closing(GrpcServer()))
    echo = stack.enter_context(closing(EchoServer()))
    return {
        "nginx": nginx.url,
        "http2": nginx.http2_url,
        "truth": truth.url,
        "tls": tls_server(stack, folder),
        "grpc": grpc.place,
        "websocket": echo.place,
    }


def tls_server(stack: ExitStack, folder: Path) -> str:
    """The URL of a server whose certificate nobody knows."""
    from scripts.smoke import Target

    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    run([*words, "-out", certificate, "-keyout", key])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Target))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.shutdown)
    return f"https://127.0.0.1:{server.server_port}"


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path = ROOT) -> None:
    """Ends the process if the command fails, with its output."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        sys.exit(
            f"training: failed with {done.returncode}: {' '.join(command)}\n{done.stdout.decode(errors='replace')}"
        )


def say(text: str) -> None:
    print(f"training: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
