"""Messages between the coordinator and its worker processes, and how they travel."""
