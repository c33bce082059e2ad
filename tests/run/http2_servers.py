"""Servers of others that speak HTTP/2, from the first byte and by TLS. `/` is answered with `hello`, `/echo` with the
request's body (nginx cannot)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benches.nginx import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

START_S = 60.0

NGINX = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 7;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  server {{
    listen 127.0.0.1:{plain} http2;
    listen 127.0.0.1:{secure} ssl http2;
    location / {{ return 200 "hello"; }}
  }}
}}
"""

APACHE = """
ServerName 127.0.0.1
PidFile {folder}/pid
ErrorLog {folder}/error.log
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule http2_module {modules}/mod_http2.so
LoadModule ssl_module {modules}/mod_ssl.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule lua_module {modules}/mod_lua.so
{user}
Listen 127.0.0.1:{plain}
Listen 127.0.0.1:{secure}
DocumentRoot {folder}/files
DirectoryIndex index
Protocols h2 h2c
MaxKeepAliveRequests 0
LuaMapHandler /echo {folder}/echo.lua
<VirtualHost 127.0.0.1:{secure}>
  SSLEngine on
  SSLCertificateFile {certificate}
  SSLCertificateKeyFile {key}
</VirtualHost>
"""

CADDY = """
{{
  admin off
  auto_https off
  servers {{
    protocols h1 h2 h2c
  }}
}}
(answers) {{
  respond /echo {{http.request.body}}
  respond hello
}}
http://127.0.0.1:{plain} {{
  import answers
}}
https://127.0.0.1:{secure} {{
  tls {certificate} {key}
  import answers
}}
"""

HYPERCORN = """
async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body if scope["path"] == "/echo" else b"hello"})
"""

ENVOY = """
static_resources:
  listeners:
  - address: {{ socket_address: {{ address: 127.0.0.1, port_value: {plain} }} }}
    filter_chains:
    - filters: &filters
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: all
          codec_type: HTTP2
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{ prefix: "/" }}
                direct_response: {{ status: 200, body: {{ inline_string: hello }} }}
          http_filters:
          - name: echo
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
              default_source_code:
                inline_string: |
                  function envoy_on_request(request)
                    if request:headers():get(":path") == "/echo" then
                      local body = request:body()
                      request:respond({{[":status"] = "200"}}, body:getBytes(0, body:length()))
                    end
                  end
          - name: router
            typed_config: {{ "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }}
  - address: {{ socket_address: {{ address: 127.0.0.1, port_value: {secure} }} }}
    filter_chains:
    - filters: *filters
      transport_socket:
        name: tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            alpn_protocols: [h2]
            tls_certificates:
            - certificate_chain: {{ filename: {certificate} }}
              private_key: {{ filename: {key} }}
"""

NODE = """
const http2 = require('node:http2'), fs = require('node:fs');
const [, , plain, secure, certificate, key] = process.argv;
const answer = (stream, headers) => {
  stream.respond({ ':status': 200 });
  if (headers[':path'] === '/echo') stream.pipe(stream);
  else stream.end('hello');
};
http2.createServer().on('stream', answer).listen(+plain, '127.0.0.1');
http2.createSecureServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) })
  .on('stream', answer).listen(+secure, '127.0.0.1');
"""

GO = """
package main

import ("io"; "net/http"; "os")

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	plain := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Protocols: protocols}
	go plain.ListenAndServe()
	http.ListenAndServeTLS("127.0.0.1:" + os.Args[2], os.Args[3], os.Args[4], nil)
}
"""


APACHE_MODULES = "/usr/lib/apache2/modules"


def _system(name: str) -> str | None:
    """A program that Debian installs where only root's PATH leads."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


ENVOY_PROGRAM = shutil.which("envoy", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


def _filled(file: Path, text: str, values: Sequence[str], **more: str) -> str:
    """Writes a configuration."""
    plain, secure, certificate, key = values
    folder = str(file.parent)
    file.write_text(text.format(folder=folder, plain=plain, secure=secure, certificate=certificate, key=key, **more))
    return str(file)


def _nginx(folder: Path, values: Sequence[str]) -> list[str]:
    file = _filled(folder / "nginx.conf", NGINX, values)
    return [program() or "nginx", "-e", str(folder / "error.log"), "-c", file, "-p", str(folder)]


def _apache(folder: Path, values: Sequence[str]) -> list[str]:
    (folder / "files").mkdir()
    (folder / "files" / "index").write_text("hello")
    (folder / "echo.lua").write_text("function handle(r) r:puts((r:requestbody())) return apache2.OK end")
    user = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
    file = _filled(folder / "apache.conf", APACHE, values, modules=APACHE_MODULES, user=user)
    return [_system("apache2") or "apache2", "-f", file, "-D", "FOREGROUND"]


def _caddy(folder: Path, values: Sequence[str]) -> list[str]:
    return ["caddy", "run", "--adapter", "caddyfile", "--config", _filled(folder / "Caddyfile", CADDY, values)]


def _hypercorn(folder: Path, values: Sequence[str]) -> list[str]:
    (folder / "echo.py").write_text(HYPERCORN)
    plain, secure, certificate, key = values
    places = ["--insecure-bind", f"127.0.0.1:{plain}", "--bind", f"127.0.0.1:{secure}"]
    tls = ["--certfile", certificate, "--keyfile", key]
    return [sys.executable, "-m", "hypercorn", *places, *tls, f"{folder / 'echo'}:app"]


def _envoy(folder: Path, values: Sequence[str]) -> list[str]:
    file = _filled(folder / "envoy.yaml", ENVOY, values)
    return [
        ENVOY_PROGRAM or "envoy",
        "--config-path",
        file,
        "--disable-hot-restart",
        "--concurrency",
        "1",
        "-l",
        "error",
    ]


def _node(folder: Path, values: Sequence[str]) -> list[str]:
    file = folder / "server.js"
    file.write_text(NODE)
    return ["node", str(file), *values]


def _go(folder: Path, values: Sequence[str]) -> list[str]:
    (folder / "go.mod").write_text("module server\n\ngo 1.24\n")
    (folder / "main.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "server", "."], cwd=folder, check=True)
    return [str(folder / "server"), *values]


SERVERS: dict[str, tuple[Callable[[Path, Sequence[str]], list[str]], str | None]] = {
    "nginx": (_nginx, program()),
    "apache": (_apache, _system("apache2")),
    "caddy": (_caddy, shutil.which("caddy")),
    "hypercorn": (_hypercorn, "hypercorn" if importlib.util.find_spec("hypercorn") else None),
    "envoy": (_envoy, ENVOY_PROGRAM),
    "node": (_node, shutil.which("node")),
    "go": (_go, shutil.which("go")),
}
"""How to start each, and its program; None: it is not installed."""


@contextmanager
def running(name: str, certificate: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The URLs of a server, without and with TLS."""
    with TemporaryDirectory(prefix="plimsoll-http2-") as folder:
        # Workers of servers run as another user if this process is root. They could not enter a folder of pytest.
        Path(folder).chmod(0o755)
        yield from _running(name, Path(folder), certificate)


def _running(name: str, folder: Path, certificate: tuple[str, str]) -> Iterator[tuple[str, str]]:
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        ports = [str(each.getsockname()[1]) for each in (first, second)]
    command = SERVERS[name][0](folder, [*ports, *certificate])
    own = {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}  # where Caddy keeps what it has read
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=os.environ | own)
    try:
        for port in ports:
            _wait_for(int(port), process)
        yield f"http://127.0.0.1:{ports[0]}", f"https://127.0.0.1:{ports[1]}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        assert process.poll() is None and time.monotonic() < deadline, "it does not start"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
