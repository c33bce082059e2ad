"""Reports as values, sections of blocks, and what builds them for a run, a study and a search for capacity.

What builds them takes a while to import: import it where it is called.
"""
