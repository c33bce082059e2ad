"""Small functions that Locust keeps in `locust.util` and that locustfiles borrow."""
