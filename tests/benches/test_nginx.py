import urllib.request

from benches.nginx import LARGE_BYTES, ORDER, SMALL_BYTES, Nginx


def get(url: str, body: bytes | None = None) -> bytes:
    with urllib.request.urlopen(url, body, timeout=10) as reply:
        return bytes(reply.read())


def test_replies_have_the_sizes_that_the_table_states(nginx: Nginx) -> None:
    assert len(get(f"{nginx.url}/small")) == SMALL_BYTES
    assert len(get(f"{nginx.url}/large")) == LARGE_BYTES
    assert get(f"{nginx.url}/orders/7", b"{}") == ORDER


def test_the_status_counts_requests_but_not_its_own(nginx: Nginx) -> None:
    before = nginx.status().requests
    assert nginx.status().requests == before
    for _ in range(5):
        get(f"{nginx.url}/small")
    assert nginx.status().requests == before + 5
