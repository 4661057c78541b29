"""Noise as people type it, and British and American spellings: small changes that keep a pair's
meaning.
"""

import random
import re
from collections.abc import Callable
from functools import partial

# British and American spellings of English words, one from the other by rule.

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


# Noise as people type it and no corpus has it: small changes of a pair that keep its meaning.

Row = tuple[str, str]
"""A source sentence and its target."""
Change = Callable[[Row, random.Random], Row]

_MEN = (
    "Peter Paul John David Michael Daniel Robert Mark Martin Simon Adam Jack Oliver Ben "
    "Frank George Henry Leo Max Noah Oscar Philip Ravi Samuel Thomas Victor William Yusuf "
    "Alan Ahmed "
)
_WOMEN = (
    "Anna Julia Sarah Laura Emma Lisa Sophie Maria Alice Eva Helen Jane Kate Linda Nina "
    "Olivia Paula Rosa Susan Tina Ada Grace Lena Mia Nora Petra Clara Fatima Priya Zoe "
)
_PLACES = (
    "Berlin London Paris Hamburg Tokyo Boston Madrid Oslo Dublin Chicago Zürich Bremen "
    "Kyoto Sydney Toronto Amsterdam Stockholm Heidelberg Cambridge Oxford Leipzig "
)
_NAMES = ((("Tom", "Tom"), _MEN), (("Mary", "Maria|Mary"), _WOMEN), (("Boston", "Boston"), _PLACES))
_ONSETS = "b br ch d f g gr h j k kr l m n p r s sch sh st t th tr v w y z"
_VOWELS = "a a e e i i o o u u ai ei ee ou ie"
_ENDS = ("", "", "", "", "n", "r", "l", "s", "k", "m", "nd", "ng", "rt", "ck")
_NAME = re.compile(r"(?<=[a-z,;] )(?<!the )[A-Z][a-z]{2,}\b")
"""A capital within an English sentence begins a name, as a rule; in "the Union" it may not."""
_MONTHS = ("April", "August", "September", "November")
_SHORTENED = (
    "do not: don't, does not: doesn't, did not: didn't, is not: isn't, are not: aren't, "
    "was not: wasn't, were not: weren't, cannot: can't, could not: couldn't, "
    "would not: wouldn't, will not: won't, have not: haven't, has not: hasn't, I am: I'm, "
    "you are: you're, we are: we're, they are: they're, it is: it's, that is: that's, "
    "I have: I've, I will: I'll, you will: you'll, we will: we'll, let us: let's"
)
_CONTRACTIONS = [tuple(pair.split(": ")) for pair in _SHORTENED.split(", ")]
_AFTER = r"(?= [a-z])"
"""Only before a word: "It is." is never "It's."."""


def no_stop(row: Row, rng: random.Random) -> Row:
    """Without the final stop; a question keeps its mark in the target."""
    source, target = row
    bare = source.rstrip(".?!")
    return bare or source, target if source.endswith("?") else target.rstrip(".!") or target


def lower(row: Row, rng: random.Random) -> Row:
    """The source in lower case, or only its first letter."""
    source, target = row
    return (source.lower() if rng.random() < 0.6 else source[:1].lower() + source[1:]), target


def spelt(row: Row, rng: random.Random) -> Row:
    """The source in British or in American spelling."""
    return (british if rng.random() < 0.5 else american)(row[0]), row[1]


def contracted(row: Row, rng: random.Random) -> Row:
    """Contractions of the source written out, or made."""
    source, makes = row[0], rng.random() < 0.5
    for long, short in _CONTRACTIONS:
        old, new = (long, short) if makes else (short, long)
        after = _AFTER if makes else r"\b"
        source = re.sub(rf"\b{old}{after}", new, source)
        source = re.sub(rf"^{old[:1].upper()}{old[1:]}{after}", new[:1].upper() + new[1:], source)
    return source, row[1]


def no_apostrophe(row: Row, rng: random.Random) -> Row:
    """ "dont" and "didnt", as they are typed in haste."""
    return re.sub(r"(?<=[a-z])n't\b", "nt", row[0]), row[1]


def quoted(row: Row, rng: random.Random) -> Row:
    """Both sides in quotes, where neither has some."""
    if '"' in row[0] + row[1]:
        return row
    return f'"{row[0]}"', f'"{row[1]}"'


def renamed(row: Row, rng: random.Random) -> Row:
    """Other people and places in place of Tatoeba's three, on both sides alike."""
    source, target = row
    for (old, german), names in _NAMES:
        new = rng.choice(names.split())
        n = len(re.findall(rf"\b{old}\b", source))
        changed, n_target = re.subn(rf"\b({german})(s?)\b", rf"{new}\2", target)
        if n and n == n_target:
            source, target = re.sub(rf"\b{old}\b", new, source), changed
    return source, target


def named_anew(row: Row, rng: random.Random) -> Row:
    """A name that both sides have once becomes one that nobody has, as it has to be copied."""
    source, target = row
    for name in _NAME.findall(source):
        if source.count(name) == 1 and name not in _MONTHS:
            new = invented_name(rng)
            changed, n = re.subn(rf"\b{name}(s?)\b", rf"{new}\1", target)
            if n == 1:
                source, target = source.replace(name, new), changed
    return source, target


def invented_name(rng: random.Random) -> str:
    """Two or three syllables: Brivonk, Tashieler."""
    parts = _ONSETS.split(), _VOWELS.split(), _ENDS
    syllables = ("".join(map(rng.choice, parts)) for _ in range(rng.choice((2, 2, 3))))
    return "".join(syllables).capitalize()


def renumbered(row: Row, rng: random.Random) -> Row:
    """A number of two to four digits that both sides have once becomes another as long."""
    for number in re.findall(r"(?<![\d.,:])[1-9]\d{1,3}(?![\d.,:]*\d)", row[0]):
        if row[0].count(number) == row[1].count(number) == 1:
            new = str(rng.randrange(10 ** (len(number) - 1), 10 ** len(number)))
            row = row[0].replace(number, new), row[1].replace(number, new)
    return row


CHANGES: tuple[tuple[Change, float], ...] = (
    (renamed, 0.5),
    (named_anew, 0.2),
    (renumbered, 0.5),
    (contracted, 0.15),
    (spelt, 0.3),
    (no_apostrophe, 0.04),
    (no_stop, 0.08),
    (quoted, 0.02),
    (lower, 0.07),
)
"""Each change and how often it is tried, in this order: names are found before they lose case."""


def noisy(row: Row, rng: random.Random) -> Row:
    """The pair with some of the changes."""
    for change, probability in CHANGES:
        if rng.random() < probability:
            row = change(row, rng)
    return row
