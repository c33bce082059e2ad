"""What Plimsoll itself costs, side by side with its peers. `python -m benches` measures it; README.md says how."""
