import json
from pathlib import Path

from benches.cost import Case, Cost
from benches.results import Results
from benches.subjects import Wrk


def test_the_file_keeps_every_round(tmp_path: Path) -> None:
    results = Results({"cpus": 2}, "2026-01-02T03:04:05", "python -m benches", 5.0)
    for cpu_us in (5.0, 7.0, 6.0):
        results.add(Case(Wrk(), "/small", 50), Cost(cpu_us, 0.0, 100.0, 3.0, 0.0))
    path = tmp_path / "new" / "results.json"
    results.write(path, [])
    document = json.loads(path.read_text())
    assert document["schema"] == "plimsoll.bench/1"
    assert [cost["cpu_us"] for cost in document["costs"][0]["rounds"]] == [5.0, 7.0, 6.0]
    assert results.cpu_us("wrk", "/small", 50) == 6.0
    assert results.cpu_us("wrk", "/large", 50) is None
