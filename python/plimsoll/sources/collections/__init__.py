"""Collections of requests that a person keeps: Postman, Insomnia, Bruno, JMeter."""
