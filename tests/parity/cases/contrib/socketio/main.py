"""`SocketIOUser` with a server of python-socketio: sends, emits, calls, what the server sends, and what fails."""

# run: -u 1
# run numbers: -u 1 --numbers
# needs: socketio

import sys
import time

from locust import events, task
from locust.contrib.socketio import SocketIOUser
from parity import note
from serving import serve

given = {}


@events.test_start.add_listener
def start(**_):
    given["url"] = f"http://127.0.0.1:{serve(sys.executable, 'server.py', '{port}')}"


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--numbers", action="store_true", help="send what has no length")


class Chatter(SocketIOUser):
    options = {"reconnection": False}

    @task
    def all(self):
        self.sio.connect(given["url"], wait_timeout=5)
        if self.environment.parsed_options.numbers:
            self.send_numbers()
        else:
            self.talk()
        self.sio.disconnect()
        self.environment.runner.quit()

    def send_numbers(self):
        for act in (self.sio.call, self.sio.emit):
            try:
                note("number", act("double", 21))
            except Exception as error:
                note("number", error)

    def talk(self):
        got = []
        self.sio.on("handled", lambda data: got.append(data))
        self.sio.send("hello")
        self.sio.send({"a": 1}, name="named")
        self.sio.emit("join", {"room": 1})
        self.sio.emit("list", [1, 2, 3], callback=lambda *answer: got.append(answer))
        note("answer", self.sio.call("double", [21]))
        try:
            self.sio.call("never", timeout=0.3)
        except Exception as error:
            note("call", error)
        try:
            self.sio.connect(given["url"])
        except Exception as error:
            note("connect", error)
        time.sleep(0.3)
        note("got", got)
        self.sio.disconnect()
        self.sio.emit("late", "x")
        self.sio.send("late")
        try:
            self.sio.connect(given["url"], auth={"user": "stranger"})
        except Exception as error:
            note("refused", error)


# option: unordered
