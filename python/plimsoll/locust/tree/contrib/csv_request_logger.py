from plimsoll.locust.contrib.csv_request_logger import CSV_COLUMNS, CsvRequestLogger

__all__ = ["CSV_COLUMNS", "CsvRequestLogger"]
