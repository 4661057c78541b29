"""A search that was refused is not made again."""

from dataclasses import replace
from unittest.mock import patch

import pytest

import transformer
from transformer import InputError
from transformer.decoding.constraints import Constraints
from viz.run.request import answer, make_request


def test_a_forced_search_that_fails_is_made_once() -> None:
    plain = make_request("en-de-small", "Tom lives in Boston.", "beam", (("max_len", 2),))
    request = replace(plain, constraints=Constraints(force=((303,), (304,), (305,))))
    sentences = []
    with patch("viz.run.models.place.decode", wraps=transformer.decode) as decode:
        for _ in range(3):
            with pytest.raises(InputError) as refusal:
                answer(request)
            sentences.append(str(refusal.value))
    assert decode.call_count == 1
    assert len(set(sentences)) == 1 and sentences[0]
