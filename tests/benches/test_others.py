import subprocess
import sys
from types import SimpleNamespace

import pytest
from benches import others as others_module
from benches.nginx import Nginx
from benches.others import Others
from benches.process import Measured


def test_work_of_a_process_that_is_not_ours_counts(nginx: Nginx) -> None:
    with Measured([sys.executable, "-c", "import time; time.sleep(600)"], {}) as generator:
        others = Others(nginx, generator)
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass"], check=True)
        assert others.seconds() > 0.8  # the machine may be busy besides, so there is no upper bound


def test_packets_of_the_loopback_are_no_work_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts them apart, but they are a part of the time of server and generator."""
    seconds = {"own": 1.0, "softirq": 1.0}

    def machine() -> SimpleNamespace:
        return SimpleNamespace(
            user=10.0, nice=0.0, system=seconds["own"], steal=0.0, irq=0.0, softirq=seconds["softirq"]
        )

    class Party:
        def __init__(self, share: float) -> None:
            self._share = share

        def used(self) -> float:
            return self._share * (seconds["own"] + seconds["softirq"])

    class Server(Party):
        def cpu_seconds(self) -> float:
            return self.used()

    class Generator(Party):
        def cpu_seconds(self) -> tuple[float, float]:
            return self.used(), 0.0

    monkeypatch.setattr(others_module.psutil, "cpu_times", machine)
    monkeypatch.setattr(others_module.os, "times", lambda: SimpleNamespace(user=0.0, system=0.0))
    others = Others(Server(0.6), Generator(0.4))  # type: ignore[arg-type]
    seconds |= {"own": 2.0, "softirq": 1.5}
    assert others.seconds() == pytest.approx(0.0)
