"""The cost of Plimsoll itself, compared with its peers. `python -m benches` measures it; see README.md."""
