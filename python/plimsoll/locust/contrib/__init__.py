"""Users of protocols besides HTTP: ordinary Python around third-party client libraries.

A module needs its library only when it is imported; the ImportError names a missing one.
"""
