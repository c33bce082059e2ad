"""The truth lab: a target whose behaviour is known, and checks of every figure that Plimsoll reports about it."""
