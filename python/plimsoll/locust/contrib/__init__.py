"""Users of protocols besides HTTP: ordinary Python around other people's client libraries.

Each module needs its library only when it is imported itself, and says which one is missing.
"""
