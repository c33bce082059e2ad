from plimsoll.users.exceptions import (
    InvalidTransitionError,
    MarkovTaskTagError,
    NoMarkovTasksError,
    NonMarkovTaskTransitionError,
)
from plimsoll.users.markov import MarkovTaskSet, MarkovTaskSetMeta, transition, transitions

__all__ = [
    "InvalidTransitionError",
    "MarkovTaskSet",
    "MarkovTaskSetMeta",
    "MarkovTaskTagError",
    "NoMarkovTasksError",
    "NonMarkovTaskTransitionError",
    "transition",
    "transitions",
]
