from plimsoll.users.wait_time import between, constant, constant_pacing, constant_throughput, poisson

__all__ = ["between", "constant", "constant_pacing", "constant_throughput", "poisson"]
