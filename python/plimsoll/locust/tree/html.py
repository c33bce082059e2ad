from plimsoll.locust.html import PERCENTILES_FOR_HTML_REPORT, get_html_report, process_html_filename

__all__ = ["PERCENTILES_FOR_HTML_REPORT", "get_html_report", "process_html_filename"]
