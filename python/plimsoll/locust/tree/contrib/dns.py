from plimsoll.locust.contrib.dns import DNSClient, DNSUser

__all__ = ["DNSClient", "DNSUser"]
