"""`plimsoll capacity`: which load to try next, and the runs that try it. Their statistics are in stats/capacity."""
