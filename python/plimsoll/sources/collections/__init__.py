"""Collections of requests that a person keeps in a client: Postman, Insomnia, Bruno."""
