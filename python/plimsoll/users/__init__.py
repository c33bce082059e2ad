"""Users in Python: their classes, tasks and waits, the HTTP session, and gevent's hub with the engine in it.

Importing this package imports nothing else: native users need little of it. `plimsoll.locust.api` has the names for
locustfiles.
"""
