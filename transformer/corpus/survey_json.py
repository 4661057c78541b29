"""A survey that the command survey wrote, as `_survey.json`: read again, and checked."""

import json
from collections.abc import Mapping
from typing import Any

from transformer.corpus.survey_values import check
from transformer.corpus.surveyed import Decile, Estimate, HeadSummary, Row, Survey, Syntax
from transformer.inputs import InputError


def read_survey(text: str) -> Survey:
    """Read what `Survey.to_json` wrote. Raises InputError for anything else, in one sentence."""
    try:
        value = json.loads(text)
        heads = tuple(_head(**each) for each in value["heads"])
        survey = Survey(
            value["n_sentences"], heads, value["one_by_one"], tuple(value.get("left_out", ()))
        )
        check(survey)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(UNREADABLE) from error
    return survey


UNREADABLE = (
    "This is not a survey that this version of Headscope wrote, or it is damaged: make it anew "
    "with the command survey."
)


def _head(
    *,
    numbers: Mapping[str, Any],
    deciles: Any,
    strongest: Any,
    footprint: Any,
    syntax: Mapping[str, Any],
    **place: Any,
) -> HeadSummary:
    return HeadSummary(
        **place,
        numbers={name: Estimate(**each) for name, each in numbers.items()},
        footprint=tuple(map(float, footprint)),
        deciles=tuple(
            Decile(
                each["low"], each["high"], each["share"], tuple(Row(**row) for row in each["rows"])
            )
            for each in deciles
        ),
        strongest=tuple(Row(**row) for row in strongest),
        syntax={name: Syntax(**each) for name, each in syntax.items()},
    )
