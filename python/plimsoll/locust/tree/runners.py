from plimsoll.users.runners import (
    STATE_CLEANUP,
    STATE_INIT,
    STATE_MISSING,
    STATE_RUNNING,
    STATE_SPAWNING,
    STATE_STOPPED,
    STATE_STOPPING,
    DistributedRunner,
    LocalRunner,
    MasterRunner,
    Runner,
    WorkerRunner,
)

__all__ = [
    "STATE_CLEANUP",
    "STATE_INIT",
    "STATE_MISSING",
    "STATE_RUNNING",
    "STATE_SPAWNING",
    "STATE_STOPPED",
    "STATE_STOPPING",
    "DistributedRunner",
    "LocalRunner",
    "MasterRunner",
    "Runner",
    "WorkerRunner",
]
