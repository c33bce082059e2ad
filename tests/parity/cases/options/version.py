"""--version ends the command, whatever else it says."""

# option: bare
# run long: -f locustfile.py --version
# run short: -V -f missing.py
# run with_a_number: -u 5 --headless --version
