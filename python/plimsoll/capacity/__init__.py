"""`plimsoll capacity`: chooses the loads, and runs them. The statistics are in stats/capacity."""
