"""The proof of a scenario: the real engine replays it, and each reply is compared with the recorded one."""
