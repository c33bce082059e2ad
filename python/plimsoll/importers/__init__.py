"""Results of other tools, and tables of published reports, as studies."""

from plimsoll.importers.reading import IMPORTERS, Importer, read

__all__ = ["IMPORTERS", "Importer", "read"]
