"""Where scenarios come from: recordings and descriptions of requests, and what is made of them.

A source is a file that reads one format into `RecordedExchange`s, and a row in SOURCES (`reading.py`). Other packages
add rows through the entry-point group `plimsoll.sources`.
"""
