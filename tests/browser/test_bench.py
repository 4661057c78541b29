"""The benches that need a browser run whole, at their smallest size, where the other tests run."""

import pytest
from playwright.sync_api import BrowserContext

from tests.bench.bench import BrowserBench
from tests.bench.places import Places
from tests.representatives import cases
from transformer.discover import discover

pytestmark = pytest.mark.browser
BENCHES = discover("tests.bench", "BENCH")


IN_BROWSER = [name for name, it in BENCHES.items() if isinstance(it, BrowserBench)]
FEW = {"a clock in the app": "heads"}


@pytest.mark.parametrize("name", cases(IN_BROWSER, FEW))
def test_a_bench_runs(name: str, context: BrowserContext, address: str, apps: str) -> None:
    places = Places(context.new_page, lambda app: f"{apps}{app}&" if app else f"{address}/?")
    rows = BENCHES[name].run(True, places)
    assert rows
    for row in rows:
        assert row.name and row.baseline
        # Pages of tests share a process, so that one page's memory may be none.
        assert row.ratio is None or row.ratio > 0 or "memory" in row.name
        assert row.ratio is not None or row.goal is None or "BertViz" in row.baseline
