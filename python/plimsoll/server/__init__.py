"""The server of the web page: stored runs and the run in progress as JSON, actions as POST requests.

`make_app` (routes, `app.py`) → `PageServer` (a thread, `serving.py`); `Live` folds the run in progress (`live.py`).
"""
