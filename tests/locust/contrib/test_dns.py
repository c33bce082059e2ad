from __future__ import annotations

import socketserver
import threading
from typing import TYPE_CHECKING

import dns.message
import dns.rrset
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
import dns.message, dns.rdatatype
from locust.contrib.dns import DNSUser
class Asker(DNSUser):
    pass
client = Asker(environment).client
def ask(domain, **more):
    return client.udp(dns.message.make_query(domain, dns.rdatatype.A), "127.0.0.1", port={port}, **more)
assert ask("known.test").answer[0][0].address == "127.0.0.7"
ask("unknown.test", name="nobody")
assert ask("silent.test", timeout=0.1) is None
"""


class _Answer(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        question = dns.message.from_wire(self.request[0])
        name = question.question[0].name.to_text()
        answer = dns.message.make_response(question)
        if name == "known.test.":
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "A", "127.0.0.7"))
        if name != "silent.test.":
            self.request[1].sendto(answer.to_wire(), self.client_address)


@pytest.fixture
def name_server() -> Iterator[int]:
    with socketserver.UDPServer(("127.0.0.1", 0), _Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_answers_their_absence_and_silence(run_code: Callable[..., list[RecordedRequest]], name_server: int) -> None:
    known, unknown, silent = run_code(CODE.format(port=name_server))
    assert (known.type, known.name, known.error) == ("DNS", "udp", None)
    assert (unknown.name, unknown.error) == ("nobody", "No answer in DNS response")
    assert "timed out" in silent.error
    assert silent.time >= 100
