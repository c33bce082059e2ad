from plimsoll.locust.contrib.socketio import SocketIOClient, SocketIOUser

__all__ = ["SocketIOClient", "SocketIOUser"]
