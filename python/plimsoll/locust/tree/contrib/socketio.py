from plimsoll.users.contrib.socketio import SocketIOClient, SocketIOUser

__all__ = ["SocketIOClient", "SocketIOUser"]
