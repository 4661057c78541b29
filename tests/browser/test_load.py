"""A small crowd of `python -m tests.load`: every answer and every preview is the model's own."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.load.crowd import enter, type_letters

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


def test_a_few_visitors_at_once_see_what_the_model_says_to_each(address: str) -> None:
    with ThreadPoolExecutor(1) as pool:  # a browser's tests have a loop in this thread
        entered = pool.submit(asyncio.run, enter(address, 4, 2.0, pause=0.2)).result()
        typed = pool.submit(asyncio.run, type_letters(address, 2, 2.0)).result()
    assert len(entered.seconds) >= 4
    assert entered.n_wrong == 0
    assert typed.n_wrong == 0
    assert sum(typed.per_second) > 0
