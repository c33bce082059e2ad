import pytest
from benches.cases import EVENTS, SOCKETS
from benches.cost import Case
from benches.echo import ECHO
from benches.subjects import Subject
from tests.benches.conftest import measured

pytestmark = pytest.mark.skipif(not ECHO.exists(), reason="echo is not built (make bench)")


@pytest.mark.parametrize(
    ("subject", "path"), [*((each, "/echo") for each in SOCKETS), (EVENTS, "/events")], ids=lambda each: str(each)
)
def test_each_count_is_that_of_the_server(subject: Subject, path: str) -> None:
    cost = measured(Case(subject, path, 4))
    assert cost.requests_per_second > 100
    assert cost.cpu_us > 0
