"""What `plimsoll demo` loads: a small shop with three faults, and the users of that shop."""
