"""Words in labels and sentences of Streamlit's: the same texts as on the cards, as its help."""

from viz.glossary import words
from viz.word import Word


def help_of(*names: str) -> str:
    """Explain these behind a question mark: sentence, formula and source of each, in Markdown."""
    return "\n\n".join(explained(words()[name], is_titled=len(names) > 1) for name in names)


def explained(word: Word, is_titled: bool = False) -> str:
    """The same of one word, which need not stand in the glossary as it is."""
    title = f"**{word.title[:1].upper()}{word.title[1:]}**: " if is_titled else ""
    formula = f"$\\displaystyle {word.formula}$" if word.formula else ""
    return "\n\n".join(filter(None, (title + word.sentence, formula, word.source)))
