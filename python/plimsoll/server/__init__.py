"""The web page's side of the machine: what is stored, and the run in progress, as JSON; what may be done, as POSTs.

`make_app` (routes, `app.py`) → `PageServer` (a thread, `serving.py`); `Live` folds the run in progress (`live.py`).
"""
