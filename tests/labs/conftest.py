import sys
from pathlib import Path

# The labs are programs beside the package, not part of it.
sys.path.insert(0, str(Path(__file__).parents[2]))
