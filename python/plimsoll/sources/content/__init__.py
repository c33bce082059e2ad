"""What the bodies of requests and the texts of replies say: operations, and values in encodings."""
