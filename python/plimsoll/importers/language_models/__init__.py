"""Results of tools that load language models, in the rows that Plimsoll records of generated texts."""
