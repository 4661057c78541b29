"""A plug-in of pytest that prints what fails, in lines that another process reads."""

from typing import Any

FAILED, UNCOLLECTED = "fails: ", "is not collected: "


def pytest_configure(config: Any) -> None:
    """Know the marker before any test has it."""
    config.addinivalue_line(
        "markers", "thorough: further cases of a family, of no mechanism of their own"
    )


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        print(f"\n{FAILED}{report.nodeid}", flush=True)


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        print(f"\n{UNCOLLECTED}{report.nodeid}", flush=True)
