"""A server of Socket.IO on the port that it is given."""

import sys

import socketio
from werkzeug.serving import make_server

sio = socketio.Server(async_mode="threading")
sio.on("double", lambda _, number: 2 * number)
sio.on("list", lambda _, values: len(values))


@sio.on("connect")
def connect(sid, environ, auth):
    if auth:
        raise ConnectionRefusedError("no strangers")


@sio.on("join")
def join(sid, data):
    sio.emit("joined", "abc", to=sid)
    sio.emit("handled", data, to=sid)


@sio.on("never")
def never(sid):
    sio.sleep(5)


make_server("127.0.0.1", int(sys.argv[1]), socketio.WSGIApp(sio), threaded=True).serve_forever()
