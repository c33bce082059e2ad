"""The cloud service, as far as an appliance uses it: gRPC in Google's own messages, with keys that are in memory."""
