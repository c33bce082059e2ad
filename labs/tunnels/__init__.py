"""The tunnels lab: two reverse tunnels under a spike and under constant load."""
