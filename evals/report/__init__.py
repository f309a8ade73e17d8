"""What the records of a suite say: figures, a console table, JSON, and one HTML page with plots."""

from evals.report.as_json import report_json
from evals.report.figures import Figures, ModeFigures, figures
from evals.report.page import report_page, write_html
from evals.report.table import print_report

__all__ = ["Figures", "ModeFigures", "figures", "print_report", "report_json", "report_page", "write_html"]
