"""A locustfile that cannot be imported."""

raise RuntimeError("not importable")


# option: bare
# run: -f locustfile.py --headless -t 1
