"""The HTML page: templates, style sheet and script are files of this folder, put into one when it is written."""
