from plimsoll.users.contrib.dns import DNSClient, DNSUser

__all__ = ["DNSClient", "DNSUser"]
