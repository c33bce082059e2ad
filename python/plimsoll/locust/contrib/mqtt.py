"""MQTT over paho-mqtt."""

from __future__ import annotations

import random
import string
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.user import User

if TYPE_CHECKING:
    from plimsoll.locust.environment import Environment

mqtt: Any = library("paho.mqtt.client", "paho-mqtt")
_Client: Any = mqtt.Client

REQUEST_TYPE = "MQTT"
SUBACK_FAILURE = 0x80
"""A broker's return code for a rejected subscription (MQTT 3.1.1, section 3.9.3); higher ones in MQTT 5."""
_ID_CHARACTERS = string.ascii_letters + string.digits


class PublishedMessageContext(NamedTuple):
    """A message not yet confirmed by the broker."""

    qos: int
    topic: str
    start_time: float
    """Unix seconds."""
    payload_size: int
    """In bytes."""


class MqttClient(_Client):  # type: ignore[misc]
    """paho's client, which reports connect, disconnect, publish:QOS:TOPIC and subscribe:QOS:TOPIC.

    publish and subscribe last until the broker confirms them; with quality of service 0, until they are sent. Other
    arguments go to paho's client. use_loop_selectors has no effect: it avoids a loop with limited connections, and the
    loop here has no limit.
    """

    def __init__(
        self,
        *args: Any,
        environment: Environment,
        client_id: str | None = None,
        protocol: Any = mqtt.MQTTv311,
        use_loop_selectors: bool = False,
        **kwargs: Any,
    ) -> None:
        # 23 characters, the most that every broker must accept. Set here because an id chosen by the broker is unknown.
        client_id = client_id or "locust-" + "".join(random.choices(_ID_CHARACTERS, k=16))
        super().__init__(*args, client_id=client_id, protocol=protocol, **kwargs)
        self.client_id = client_id
        self.environment = environment
        self._publish_requests: dict[int, PublishedMessageContext] = {}
        self._subscribe_requests: dict[int, tuple[int, str, float]] = {}
        # The callbacks of MQTT 5 have more arguments; only the reason codes matter here.
        is_5 = protocol == mqtt.MQTTv5
        self.on_publish = self._on_publish_cb
        self.on_connect = self._on_connect_cb
        self.on_disconnect = self._on_disconnect_cb_v5 if is_5 else self._on_disconnect_cb
        self.on_subscribe = self._on_subscribe_cb_v5 if is_5 else self._on_subscribe_cb

    def publish(
        self, topic: str, payload: Any = None, qos: int = 0, retain: bool = False, properties: Any = None
    ) -> Any:
        size = len(payload) if isinstance(payload, str | bytes | bytearray) else 0
        message = PublishedMessageContext(qos, topic, time.time(), size)
        info = super().publish(topic, payload=payload, qos=qos, retain=retain, properties=properties)
        if info.rc == mqtt.MQTT_ERR_SUCCESS:
            self._publish_requests[info.mid] = message
        else:
            name = self._generate_event_name("publish", qos, topic)
            self._report(name, None, info.rc, **message._asdict())
        return info

    def subscribe(
        self, topic: Any, qos: int = 0, options: Any = None, properties: Any = None
    ) -> tuple[Any, int | None]:
        """Subscribe. With several topics, the name is that of the first."""
        start = time.time()
        first = topic if isinstance(topic, str) else topic[0] if isinstance(topic, tuple) else topic[0][0]
        result, mid = super().subscribe(topic, qos, options, properties)
        if result == mqtt.MQTT_ERR_SUCCESS and mid is not None:
            self._subscribe_requests[mid] = qos, first, start
        else:
            error = None if result == mqtt.MQTT_ERR_SUCCESS else result
            name = self._generate_event_name("subscribe", qos, first)
            self._report(name, None if error else start, error, qos=qos, topic=first, start_time=start)
        return result, mid

    def _generate_event_name(self, event_type: str, qos: int, topic: str) -> str:
        """The name of a request. A subclass can change it, e.g. for many topics."""
        return f"{event_type}:{qos}:{topic}"

    def _on_publish_cb(self, client: Any, userdata: Any, mid: int, *_: Any) -> None:
        message = self._publish_requests.pop(mid, None)
        if message is None:
            self._report("publish", None, AssertionError(f"Nothing was published with message id {mid}"), mid=mid)
            return
        name = self._generate_event_name("publish", message.qos, message.topic)
        self._report(name, message.start_time, None, size=message.payload_size, **message._asdict())

    def _on_subscribe_cb(self, client: Any, userdata: Any, mid: int, granted_qos: Any, *_: Any) -> None:
        request = self._subscribe_requests.pop(mid, None)
        if request is None:
            self._report("subscribe", None, AssertionError(f"No subscription has the message id {mid}"), mid=mid)
            return
        qos, topic, start = request
        refused = any(each >= SUBACK_FAILURE for each in granted_qos)
        error = AssertionError(f"Broker returned an error response during subscription: {granted_qos}")
        name = self._generate_event_name("subscribe", qos, topic)
        self._report(name, start, error if refused else None, qos=qos, topic=topic, start_time=start)

    def _on_subscribe_cb_v5(self, client: Any, userdata: Any, mid: int, reason_codes: Any, *_: Any) -> None:
        self._on_subscribe_cb(client, userdata, mid, [code.value for code in reason_codes])

    def _on_connect_cb(self, client: Any, userdata: Any, flags: Any, rc: Any, *_: Any) -> None:
        self._report("connect", None, None if rc == 0 else Exception(str(rc)))

    def _on_disconnect_cb(self, client: Any, userdata: Any, rc: Any, *_: Any) -> None:
        self._report("disconnect", None, None if rc == 0 else rc)

    def _on_disconnect_cb_v5(self, client: Any, userdata: Any, *arguments: Any) -> None:
        # Depends on the version of paho's callbacks: reason and properties, possibly preceded by flags.
        self._on_disconnect_cb(client, userdata, arguments[-2])

    def _report(self, name: str, since: float | None, error: Any, *, size: int = 0, **context: Any) -> None:
        """since: start of the operation (Unix); None: it has no duration. error: an exception or a code of paho's."""
        self.environment.events.request.fire(
            request_type=REQUEST_TYPE,
            name=name,
            response_time=0 if since is None else (time.time() - since) * 1000,
            response_length=size,
            exception=error,
            context={"client_id": self.client_id, **context},
        )


class MqttUser(User):
    """Connects to host and port in the background when it is created."""

    abstract = True

    host = "localhost"
    port = 1883
    transport = "tcp"
    """Either "tcp" or "websockets"."""
    ws_path = "/mqtt"
    tls_context: Any = None
    """An ssl.SSLContext enables TLS."""
    client_cls: type[MqttClient] = MqttClient
    client_id: str | None = None
    username: str | None = None
    password: str | None = None
    protocol: Any = mqtt.MQTTv311
    use_loop_selectors = False

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client: MqttClient = self.client_cls(
            environment=environment,
            transport=self.transport,
            client_id=self.client_id,
            protocol=self.protocol,
            use_loop_selectors=self.use_loop_selectors,
        )
        if self.tls_context:
            self.client.tls_set_context(self.tls_context)
        if self.transport == "websockets" and self.ws_path:
            self.client.ws_set_options(path=self.ws_path)
        if self.username and self.password:
            self.client.username_pw_set(username=self.username, password=self.password)
        self.client.connect_async(host=self.host, port=self.port)
        self.client.loop_start()
