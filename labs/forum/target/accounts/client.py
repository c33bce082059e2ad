"""The forum's side of the accounts API."""

from collections.abc import Iterable
from urllib.parse import quote

import urllib3
from django.conf import settings

_pool = urllib3.PoolManager(
    num_pools=2, maxsize=32, timeout=urllib3.Timeout(settings.ACCOUNTS_TIMEOUT_S), retries=False
)


def images(names: Iterable[str]) -> dict[str, str]:
    """The profile image of each user. Empty without an accounts API."""
    if not settings.ACCOUNTS:
        return {}
    wanted = sorted(set(names))
    batches = [[name] for name in wanted] if settings.ACCOUNTS_ONE_BY_ONE else [wanted] if wanted else []
    found: dict[str, str] = {}
    for batch in batches:
        url = f"{settings.ACCOUNTS}/api/accounts/?usernames={quote(','.join(batch))}"
        answer = _pool.request("GET", url)
        if answer.status != 200:
            raise RuntimeError(f"the accounts API answered {answer.status}")
        found |= {each["name"]: each["image"] for each in answer.json()}
    return found
