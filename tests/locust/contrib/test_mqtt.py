"""Against a broker that knows connections, and confirms messages and subscriptions."""

from __future__ import annotations

import socketserver
import struct
import threading
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
import time, warnings
warnings.simplefilter("ignore")
import paho.mqtt.client as mqtt
from locust.contrib.mqtt import MqttUser
class Sensor(MqttUser):
    port = {port}
    host = "127.0.0.1"
    protocol = mqtt.{protocol}
def until(number):
    while len(reported) < number:
        time.sleep(0.01)
client = Sensor(environment).client
until(1)
client.publish("a/b", b"12345")
until(2)
client.publish("a/b", "123", qos=1)
until(3)
client.subscribe("c", qos=1)
until(4)
client.subscribe([("refused", 0)])
until(5)
client.disconnect()
until(6)
client.publish("late")
client.loop_stop()
"""
CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, DISCONNECT = 1, 2, 3, 4, 8, 9, 14
REFUSED = 0x80


class _Broker(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        is_5 = False
        while first := self.rfile.read(1):
            kind, flags = first[0] >> 4, first[0] & 15
            body = self.rfile.read(self.rfile.read(1)[0])
            # In MQTT 5 every answer has properties; these have none.
            none = b"\0" if is_5 else b""
            if b"hang up" in body:
                return
            if kind == CONNECT:
                is_5 = body[6] == 5
                self._send(CONNACK, b"\0\0" + (b"\0" if is_5 else b""))
            elif kind == PUBLISH and flags & 6:
                topic = 2 + struct.unpack(">H", body[:2])[0]
                self._send(PUBACK, body[topic : topic + 2])
            elif kind == SUBSCRIBE:
                self._send(SUBACK, body[:2] + none + (bytes([REFUSED]) if b"refused" in body else b"\1"))
            elif kind == DISCONNECT:
                return

    def _send(self, kind: int, body: bytes) -> None:
        self.wfile.write(bytes([kind << 4, len(body)]) + body)


@pytest.fixture
def broker() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Broker) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(("protocol", "codes"), [("MQTTv311", "(128,)"), ("MQTTv5", "[128]")])
def test_a_life_with_a_broker(
    run_code: Callable[..., list[RecordedRequest]], broker: int, protocol: str, codes: str
) -> None:
    reported = run_code(CODE.format(port=broker, protocol=protocol))
    assert [(each.type, each.name, each.length) for each in reported] == [
        ("MQTT", "connect", 0),
        ("MQTT", "publish:0:a/b", 5),
        ("MQTT", "publish:1:a/b", 3),
        ("MQTT", "subscribe:1:c", 0),
        ("MQTT", "subscribe:0:refused", 0),
        ("MQTT", "disconnect", 0),
        ("MQTT", "publish:0:late", 0),
    ]
    *fine, refused, _, late = reported
    assert [each.error for each in fine] == [None] * 4
    assert refused.error == f"Broker returned an error response during subscription: {codes}"
    assert late.error == "4"  # paho's code, as Locust reports it
    assert reported[2].time > 0
    assert reported[0].context["client_id"].startswith("locust-")
    assert reported[1].context["topic"] == "a/b"


LOST = """
import time, warnings
warnings.simplefilter("ignore")
import paho.mqtt.client as mqtt
from locust.contrib.mqtt import MqttClient
client = MqttClient({version}environment=environment, protocol=mqtt.{protocol})
client.connect("127.0.0.1", {port})
client.loop_start()
while not reported:
    time.sleep(0.01)
client.publish("hang up", qos=1)
while len(reported) < 2:
    time.sleep(0.01)
client.loop_stop()
"""


@pytest.mark.parametrize(
    ("protocol", "version", "error"),
    [
        ("MQTTv311", "", "7"),
        ("MQTTv5", "", "7"),
        ("MQTTv5", "mqtt.CallbackAPIVersion.VERSION2, ", "Unspecified error"),
    ],
)
def test_a_lost_connection_is_a_failure(
    run_code: Callable[..., list[RecordedRequest]], broker: int, protocol: str, version: str, error: str
) -> None:
    reported = run_code(LOST.format(port=broker, protocol=protocol, version=version))
    assert [(each.name, each.error) for each in reported[:2]] == [("connect", None), ("disconnect", error)]
