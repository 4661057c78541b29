"""A deck deals everything before it deals anything again."""

from itertools import islice

from transformer.training.recipes.en_de_data.substitution import Deck


def test_every_item_is_dealt_before_one_is_dealt_again() -> None:
    deck = Deck(range(5), seed=1)
    dealt = [*islice(deck.deal(0), 20)]
    assert all(len(set(dealt[i : i + 5])) == 5 for i in range(0, 20, 5))
    assert len({tuple(dealt[i : i + 5]) for i in range(0, 20, 5)}) > 1
    assert [*islice(deck.deal(7), 9)] == dealt[7:16]
