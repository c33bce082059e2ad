"""The appliance: FastAPI in front of the cloud service whose keys it manages."""
