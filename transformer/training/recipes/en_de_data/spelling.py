"""British and American spellings of English words, one from the other by rule."""

import re
from functools import partial

_WORDS = (
    "colour color, neighbour neighbor, favour favor, honour honor, labour labor, "
    "humour humor, behaviour behavior, flavour flavor, harbour harbor, rumour rumor, "
    "realis realiz, organis organiz, recognis recogniz, apologis apologiz, criticis criticiz, "
    "memoris memoriz, analys analyz, centre center, theatre theater, travell travel, "
    "cancell cancel, jewell jewel, traveller traveler, grey gray, defence defense, "
    "licence license, catalogue catalog, dialogue dialog, programme program, mum mom, "
    "pyjamas pajamas, tyre tire, aluminium aluminum, aeroplane airplane, moustache mustache, "
    "cosy cozy, sceptic skeptic, storey story, plough plow"
)
"""In Britain and in America; both may go on."""
_STEMS = [tuple(pair.split()) for pair in _WORDS.split(", ")]
# Not every word that begins like one of these is spelt in two ways.
_ENDINGS = {
    "realis": r"(?=e|ing|ation)",
    "organis": r"(?=e|ing|ation)",
    "recognis": r"(?=e|ing)",
    "apologis": r"(?=e|ing)",
    "criticis": r"(?=e[ds]?\b|ing)",
    "memoris": r"(?=e|ing)",
    "analys": r"(?=ed|ing|er|e\b)",
    "travell": r"(?=ed|ing)",
    "cancell": r"(?=ed|ing)",
    "jewell": r"(?=e)",
}
_WHOLE = {"mum", "grey", "cosy", "tyre", "tire", "storey", "programme", "dialogue", "catalogue"}
_BRITISH_ONLY = {"tyre", "storey", "programme", "dialogue"}
"""Their American spelling is also another word, or a British one."""


def american(text: str) -> str:
    """The text as it is written in America.

    >>> american("My neighbour realised that the travelling theatre was grey.")
    'My neighbor realized that the traveling theater was gray.'
    """
    return _respelt(text, _TO_AMERICAN)


def british(text: str) -> str:
    """The text as it is written in Britain.

    >>> british("Color the center gray, analyze it and realize it.")
    'Colour the centre grey, analyse it and realise it.'
    """
    return _respelt(text, _TO_BRITISH)


def _rule(old: str, new: str, ending: str) -> tuple[re.Pattern[str], str]:
    whole = r"\b" if old in _WHOLE or new in _WHOLE else ""
    return re.compile(rf"\b{old}{ending}{whole}", re.IGNORECASE), new


def _respelt(text: str, rules: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, new in rules:
        text = pattern.sub(partial(_cased, new), text)
    return text


def _cased(new: str, match: re.Match[str]) -> str:
    return new.capitalize() if match.group()[0].isupper() else new


_TO_AMERICAN = [_rule(b, a, _ENDINGS.get(b, "")) for b, a in _STEMS]
_TO_BRITISH = [
    _rule(a, b, _ENDINGS.get(b, ""))
    for b, a in _STEMS
    if b not in _BRITISH_ONLY and not b.endswith("ll")
] + [_rule("travel", "travell", r"(?=ed|ing|er)"), _rule("cancel", "cancell", r"(?=ed|ing)")]
