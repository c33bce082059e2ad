"""An analysis in, text out: Markdown, plain text, CSV, JSON, JUnit, annotations.

What people read is built once, as blocks (`document.py`, `tables.py`, a file per shape), and drawn twice: as Markdown
and for the terminal. `plimsoll.report.outputs` has the table of all formats.
"""
