"""`MqttUser` with mosquitto: every quality of service, subscriptions that are refused, and what comes too late."""

# run 3: --protocol MQTTv311 --part talk refused leave stranger
# run 5: --protocol MQTTv5 --part talk
# run leave5: --protocol MQTTv5 --part leave stranger
# run refused5: --protocol MQTTv5 --part refused
# run tuple: --protocol MQTTv311 --part tuple
# env: LOCUST_LOCUSTFILE=locustfile.py,probe.py LOCUST_HEADLESS=true
# needs: mosquitto paho.mqtt

import time
import warnings
from pathlib import Path

import paho.mqtt.client as mqtt
from locust import events, task
from locust.contrib.mqtt import MqttClient, MqttUser
from parity import note
from serving import serve

PATIENCE = 1.0

warnings.simplefilter("ignore", DeprecationWarning)


def settings():
    """The broker may refuse subscriptions: a module of its does, which lies where the processor's libraries are."""
    module = next(Path("/usr/lib").glob("*/mosquitto_dynamic_security.so"))
    Path("settings").write_text(f"user root\nplugin {module}\nplugin_opt_config_file access.json\n")
    return "settings"


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--protocol")
    parser.add_argument("--part", nargs="+")


@events.test_start.add_listener
def start(environment, **_):
    Sensor.port = serve("mosquitto", "-c", settings(), "-p", "{port}")
    Sensor.protocol = getattr(mqtt, environment.parsed_options.protocol)


seen = []


@events.request.add_listener
def see(name, **_):
    seen.append(name)


def until(name):
    """It was reported since the last time, or is not within a second."""
    began = time.monotonic()
    while name not in seen and time.monotonic() - began < PATIENCE:
        time.sleep(0.01)
    note(f"{name} came", name in seen)
    seen.clear()


class Sensor(MqttUser):
    host = "127.0.0.1"
    client_id = "sensor"

    @task
    def all(self):
        until("connect")
        for part in self.environment.parsed_options.part:
            getattr(self, part)()
        self.environment.runner.quit()

    def talk(self):
        got = []
        self.client.on_message = lambda client, _, message: got.append([message.topic, len(message.payload)])
        for qos in (0, 1, 2):
            self.client.subscribe(f"open/{qos}", qos)
            until(f"subscribe:{qos}:open/{qos}")
            self.client.publish(f"open/{qos}", b"12345", qos=qos)
            until(f"publish:{qos}:open/{qos}")
        self.client.subscribe([("open/3", 1), ("open/4", 0)])
        until("subscribe:0:open/3")
        for payload in ("text", bytearray(b"123"), 7, 1.5, None, ""):
            info = self.client.publish(f"open/{type(payload).__name__}", payload)
            until(f"publish:0:open/{type(payload).__name__}")
            note("result", int(info.rc))
        while len(got) < 3:
            time.sleep(0.01)
        note("got", sorted(got))

    def refused(self):
        self.client.subscribe("secret")
        until("subscribe:0:secret")

    def tuple(self):
        self.client.subscribe(("open/1", 1))
        time.sleep(0.5)

    def leave(self):
        self.client.disconnect()
        until("disconnect")
        note("late", int(self.client.publish("late", "x").rc))
        note("late", int(self.client.subscribe("late")[0]))

    def stranger(self):
        """Left before the library tries again, which is after a second."""
        stranger = MqttClient(environment=self.environment, client_id="stranger", protocol=self.protocol)
        stranger.username_pw_set("nobody", "wrong")
        stranger.connect_async(self.host, self.port)
        stranger.loop_start()
        until("connect")
        stranger.loop_stop()


# option: bare unordered
