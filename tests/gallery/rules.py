"""What each mean of the gallery is over: one rule per kind of sentence, said in its docstring.

Every rule yields what a case is called and the weights [L, H] that all heads give it.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path

from torch import Tensor

from tests.gallery.corpus import PERSON_AND_THING, english_ewt, tatoeba, things
from tests.gallery.seen import Seeing, Seen, Word

Cases = Iterator[tuple[str, Tensor]]
Rule = Callable[[Seeing, Path], Cases]

N_SENTENCES = 150
"""As many sentences are translated for a rule, the first that it fits."""
LATE = ("weil", "dass", "wenn", "ob", "obwohl", "bevor", "nachdem", "damit")
"""They send the verb to the end of their clause."""
HAVE = ("habe", "hast", "hat", "haben", "habt", "hatte", "hattest", "hatten", "hattet")
ENCODER, DECODER, CROSS = "encoder_self", "decoder_self", "cross"


def _matching(data: Path, pattern: str, *parts: str, n: int = N_SENTENCES) -> list[str]:
    found = (text for text in tatoeba(data, *parts) if re.search(pattern, text))
    return list(islice(found, n))


def _on(seen: Seen, kind: str, row: int, word: Word) -> Tensor:
    """What a row gives all pieces of a word [L, H]."""
    begin = int(kind == DECODER)  # the decoder's first column is <s>
    return seen.weights[kind][:, :, row, [begin + place for place in word.places]].sum(-1)


def distant_verb(seeing: Seeing, data: Path) -> Cases:
    """From ‘Did’ or ‘Does’ to the verb at the start of Tatoeba's questions with n't."""
    for did in ("Did", "Does"):
        pattern = rf"^{did}n't (I|you|he|she|it|they|we|Tom|Mary) [a-z]+\b.*\?$"
        for text in _matching(data, pattern, "train", "test"):
            seen = seeing.read(text)
            is_long = seen.pieces[0] == f"▁{did}" and len(seen.pieces) > 6
            if is_long and seen.pieces[5][0] == "▁" and len(seen.source[2].places) == 1:
                yield f"{did}n't", seen.weights[ENCODER][:, :, 0, 5]


def pronoun(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes ‘er’ or ‘sie’ after a conjunction to the only noun before it.

    That noun is the second word, the subject, and the first one its article; other rows: all
    others after the noun's own.
    """
    pattern = r"^(The|My|His|Her|Our) \w+ [^,]*\b(because|when|if|that|before) (he|she)\b"
    for text in _matching(data, pattern, "test", "valid", "train"):
        seen = seeing.translated(text)
        at = [i for i, word in enumerate(seen.target[:-1]) if word.text in (*LATE, "als")]
        if len(at) != 1:
            continue
        after = seen.target[at[0] + 1]
        before = [word for word in seen.target[1 : at[0]] if word.is_noun_like]
        if before == [seen.target[1]] and after.text in ("er", "sie"):
            article, noun = seen.target[:2]
            for name, word in (("the noun", noun), ("its article", article)):
                yield name, _on(seen, DECODER, after.first, word)
                for row in range(noun.last + 2, seen.weights[DECODER].size(2)):
                    if row != after.first:
                        yield f"{name}, other rows", _on(seen, DECODER, row, word)


def ahead(seeing: Seeing, data: Path) -> Cases:
    """From an article to the noun two words on, an adjective between them, in English EWT.

    Sentences of at most 12 words that have such an article; every word is one piece.
    """
    for seen, words in _tagged(seeing, data, 12):
        articles = [
            i
            for i, (word, one, two) in enumerate(zip(words, words[1:], words[2:], strict=False))
            if word[1].lower() in ("a", "an", "the") and (one[2], two[2]) == ("ADJ", "NOUN")
        ]
        for i in range(len(words) - 2) if articles else ():
            name = "the noun" if i in articles else "any word two on"
            places = [words[i + k][0].places for k in range(3)]
            if all(len(each) == 1 for each in places):
                yield name, _on(seen, ENCODER, places[0][0], words[i + 2][0])


def relative(seeing: Seeing, data: Path) -> Cases:
    """From the only ‘who’ of Tatoeba's sentences to the word before it, which follows an article.

    Any word before: from every word of these sentences to the one before it.
    """
    for text in _matching(data, r"\b([Tt]he|[Aa]n?) [a-z]+ who [a-z]+", "test", "train"):
        words = seeing.read(text).source
        for before, word in pairwise(words[:-1]):
            name = "the noun" if word.text == "who" else "any word before"
            yield name, _on(seeing.read(text), ENCODER, word.first, before)


def _tagged(
    seeing: Seeing, data: Path, longest: int
) -> Iterator[tuple[Seen, list[tuple[Word, str, str]]]]:
    """EWT's sentences with an article: each word, its text and its part of speech."""
    for text, tags in english_ewt(data):
        if len(tags) > longest or not re.search(r"\b([Aa]n?|[Tt]he)\b", text):
            continue
        seen = seeing.read(text)
        joined, starts = "", {}
        for word in seen.source[:-1]:
            joined += " " * (seen.pieces[word.first][0] == "▁" and bool(joined))
            starts[len(joined)] = word
            joined += word.text
        if joined == text:
            yield seen, [(starts[at], word, tag) for at, word, tag in tags if at in starts]


def person_and_thing(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a pronoun after ‘weil’ to the articles of a person and of a thing.

    A person is meant.
    """
    yield from _articles(seeing, [(text, 0) for text in PERSON_AND_THING])


def two_things(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a pronoun after ‘weil’ to the articles of both nouns of the pairs.

    The nouns themselves, too; and the share of sentences where the article of the one that is
    meant gets more.
    """
    yield from _articles(seeing, things())


def _articles(seeing: Seeing, texts: list[tuple[str, int]]) -> Cases:
    """Of texts with two nouns, and which of them is meant."""
    for text, of in texts:
        seen = seeing.translated(text)
        words = seen.target
        places = [i for i, word in enumerate(words) if word.text == "weil"]
        nouns = [i for i, word in enumerate(words) if i and word.is_noun_like]
        if len(places) != 1 or len(nouns) != 2:
            continue
        after = words[places[0] + 1]
        if after.text in ("er", "sie", "es") and words[nouns[1]].last < after.first:
            meant, other = (
                [_on(seen, DECODER, after.first, words[i + k]) for k in (-1, 0)]
                for i in (nouns[of], nouns[1 - of])
            )
            yield "article of what is meant", meant[0]
            yield "article of the other", other[0]
            yield "what is meant", meant[1]
            yield "the other", other[1]
            yield "more for what is meant", (meant[0] > other[0]).float()


def name_itself(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a name, and from the row that has read it, to the name.

    A name is a word with a capital, the first of its sentence or not, that both sentences have.
    """
    for text in _matching(data, r" [A-Z][a-z]+", "test"):
        seen = seeing.translated(text)
        for name in (word for word in seen.source if word.is_noun_like and len(word.text) > 2):
            written = seen.find(name.text)
            if len(written) == 1 and sum(word.text == name.text for word in seen.source) == 1:
                yield "a name, as it is written", _on(seen, CROSS, written[0].first, name)
                if written[0].last + 1 < seen.weights[CROSS].size(2):
                    yield "a name, as it was read", _on(seen, CROSS, written[0].last + 1, name)


def _ends_with_participle(seen: Seen) -> tuple[Word, Word] | None:
    """The only form of ‘haben’ and the participle at the end, at least two words on."""
    have = [(i, word) for i, word in enumerate(seen.target) if word.text in HAVE]
    if len(have) != 1 or len(seen.target) < have[0][0] + 5:
        return None
    last, stop = seen.target[-3], seen.target[-2]
    is_participle = re.fullmatch(r"(\w*ge|be|ver|er|ent|zer)\w+(t|en)", last.text)
    return (have[0][1], last) if is_participle and stop.text in ".?!" else None


_PERFECT = (
    r"\b[Hh](as|ave|ad) (not |never |already |just |ever |always )?"
    r"(?!been)\w+(ed|en|ne|nd|de|ght|elt|eft|ost|ept)\b"
)


def participle(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a participle at the end to the word after has, have or had."""
    for text in _matching(data, _PERFECT, "test", "valid"):
        seen = seeing.translated(text)
        at = [i for i, word in enumerate(seen.source) if word.text in ("has", "have", "had")]
        found = _ends_with_participle(seen)
        if found and len(at) == 1:
            skipped = ("not", "never", "already", "just", "ever", "always")
            verb = next(word for word in seen.source[at[0] + 1 :] if word.text not in skipped)
            yield "a participle", _on(seen, CROSS, found[1].first, verb)


def auxiliary(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a participle at the end to the only form of ‘haben’."""
    for text in _matching(data, _PERFECT, "test", "valid"):
        seen = seeing.translated(text)
        if found := _ends_with_participle(seen):
            yield "its auxiliary", _on(seen, DECODER, found[1].first, found[0])


def clause(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes a clause's last word to the conjunction two or more words before."""
    for text in _matching(data, r"\b(because|that|when|if|whether|although|before)\b", "test"):
        seen = seeing.translated(text)
        at = [i for i, word in enumerate(seen.target) if word.text in LATE]
        if len(at) == 1:
            rest = seen.target[at[0] + 1 :]
            signs = (i for i, word in enumerate(rest) if word.text in (",", ".", "?", "!"))
            end = next(signs, 0)
            if end >= 3:
                yield "the conjunction", _on(seen, DECODER, rest[end - 1].first, seen.target[at[0]])


def negation(seeing: Seeing, data: Path) -> Cases:
    """From the row that writes the only ‘nicht’ to the ‘t’ of the only n't."""
    for text in _matching(data, r"^[^']*n't\b[^']*$", "test"):
        seen = seeing.translated(text)
        written = seen.find("nicht")
        at = [i for i, two in enumerate(pairwise(seen.pieces)) if two == ("'", "t")]
        if len(written) == 1 and len(at) == 1:
            yield "the t", seen.weights[CROSS][:, :, written[0].first, at[0] + 1]


def before_the_first(seeing: Seeing, data: Path) -> Cases:
    """From the first piece to the end, and from all others to the piece before them.

    Of Tatoeba's test sentences.
    """
    for text in _matching(data, r"^[^.]+\.$", "test", n=500):
        seen = seeing.read(text)
        yield "the end, from the first", seen.weights[ENCODER][:, :, 0, len(seen.pieces) - 1]
        before = seen.weights[ENCODER].diagonal(-1, 2, 3)
        yield from (("the piece before", before[..., i]) for i in range(before.size(-1)))


RULES: dict[str, tuple[str, Rule]] = {
    "Figure 3: four heads, one distant verb": (ENCODER, distant_verb),
    "Figure 4, bottom: from one word": (DECODER, pronoun),
    "Figure 5: two heads, two directions": (ENCODER, ahead),
    "A pronoun with two candidates": (DECODER, two_things),
    "A pronoun with two candidates: a person and a thing": (DECODER, person_and_thing),
    "A word and its translation": (CROSS, name_itself),
    "A verb fetched from afar": (CROSS, participle),
    "Why the verb waits": (DECODER, clause),
    "A participle and its auxiliary": (DECODER, auxiliary),
    "‘nicht’ in two layers": (CROSS, negation),
    "‘who’ and the word before it": (ENCODER, relative),
    "No word before the first": (ENCODER, before_the_first),
}
"""Heading of a scene -> the kind of attention and the rule of its mean."""
