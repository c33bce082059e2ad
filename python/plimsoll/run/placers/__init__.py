"""Placers start the workers of a run elsewhere: `plimsoll run --on`. What follows is the transport's."""
