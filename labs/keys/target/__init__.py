"""The key manager: FastAPI in front of a model of the cloud service that it manages keys of."""
