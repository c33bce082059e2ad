"""The accounts API: names and profile images of users."""
