"""The part of the cloud service that an appliance uses: gRPC with Google's messages, keys in memory."""
