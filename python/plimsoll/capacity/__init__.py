"""`plimsoll capacity`: which load to try next, and the runs that try it. What they say is in stats/capacity/estimate.py."""
