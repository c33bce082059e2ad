"""Tables of results, as people publish them: Markdown, CSV, TSV or aligned text."""
