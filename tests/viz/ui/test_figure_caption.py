"""The captions of figures: what is drawn, of what, and how, for who sees only the paper."""

import pytest

from viz.figure_at import page_of
from viz.paper.record import address_of
from viz.ui.saving import figure_of

SAID = {
    "./?kind=cross&layer=1&head=2&heads=0,2&pins=q1,k0&lines=2": (
        "of the checkpoint copy (Copies a sequence of numbers from 2 to 11, SHA-256 ",
        "reading “3 7 2 9” and writing “3 7 2 9” (beam search with beam size 4, length penalty ",
        "H0, H2 of L1, cross-attention from 4 queries to 4 keys.",
        "While writing “",
        "The 2 largest of each query are drawn.",
        "The lines of “7” and “3” stand out.",
        "Layers and heads are counted from 0.",
    ),
    "./?picture=map&path=yes&own_scale=yes&special=hidden&lens=score&tokens=pieces": (
        "The line joins the largest of each query.",
        "The scale ends at the head's own largest.",
        "Shown is the score in place of the weight.",
        "Rows and columns are single tokens.",
        "No special tokens here to hide.",
    ),
    "./?decoding=sample&options.seed=5&options.temperature=0.5": (
        "(sampling with at most 80 tokens, temperature 0.5, top-p 0.95, seed 5)",
    ),
    "./?decoding=sample&options.top_k=5": ("temperature 0.8, top-k 5, top-p 0.95, seed 0)",),
    "./?decoding=beam&options.repeats=3": ("length penalty 0.6, repetitions 3)",),
    "./?decoding=beam": ("(beam search with beam size 4, length penalty 0.6)",),
    "./?decoding=greedy&stopped=1": ("“3” (greedy decoding with at most 1 token)", "1 query to 4"),
    "./?edits=cut:cross.1.2.1.1/head-scale:cross.0.1=0.5": (
        "Changed in the model: Cross L1 H2: 7 ↛ 7; Cross L0 H1 × 0.5.",
    ),
    "./decode?step=2&decode_as=steps": ("Step 3 of 4 writes “2” with ", "The least sure is step "),
    "./training?topic=heads&snapshot=20": (
        "Step 20, snapshot 2 of 12: ",
        "The curves show “Entropy” of this head and of the others, and the loss.",
    ),
    "./why_attention?n=50&d=128": ("with d = 128, k = 3, r = 8. At n = 50: ",),
    "./sweep?sweep_over=sentences&sweep_sentences=3+7+2%0A4+9+5": (
        "Over 2 sentences.",
        "below 10 sentences",
    ),
}
"""Address, of the first picture of its page -> parts of its caption."""


def captions(address: str) -> dict[str, str]:
    page, _, query = address.partition("?")
    pane, figures = page_of(address_of(f"{page}?checkpoint=copy&text=3+7+2+9&{query}"))
    made = {name: figure_of(pane, shown, name=name) for name, shown in figures.items()}
    return {name: each.record.caption for name, each in made.items()}


@pytest.mark.parametrize("address", SAID)
def test_a_caption_says_all_that_decided_what_is_drawn(address: str) -> None:
    said = next(iter(captions(address).values()))
    assert not [part for part in SAID[address] if part not in said], said


def test_a_grid_of_numbers_says_what_they_are_and_which_heads_were_kept() -> None:
    said = captions("./?show=first&sort=entropy&top=3")["grid"]
    assert said.startswith("Encoder self-attention, decoder self-attention and cross-attention, ")
    assert "Kept are the 3 heads with the largest “Entropy”." in said
    assert "The heads stand in the order of “Entropy”, the largest first." in said
    assert "the number of a head is the metric “On first token”, in per cent." in said


def test_a_mask_says_of_which_sentence_and_attention_it_is() -> None:
    said = captions("./masks?masks=textbook&mask_text=3+7")
    of = "mask of decoder self-attention over “{}” in a batch with “{}”, as in the textbook"
    assert of.format("3 7 2 9", "3 7") in said["mask-1-subsequent"]
    assert of.format("3 7", "3 7 2 9") in said["mask-2-subsequent"]
    assert "reading" not in said["mask-2-subsequent"]


def test_the_second_of_two_says_whose_words_it_reads_and_the_difference_what_b_is() -> None:
    said = captions("./compare?edited_b=yes&edits=head-off:encoder_self.0.1")
    assert "and made to write “3 7 2 9”, as the unchanged model does" in said["b"]
    assert "Changed in the model: Encoder L0 H1 off." in said["b"]
    assert "Changed" not in said["a"]
    assert "with 1 edit (Encoder L0 H1 off), of the checkpoint copy" in said["head_difference"]
    assert "of cross-attention minus " in said["head_difference"]
    assert "the largest difference of two weights is 0.00" in said["head_difference"]
    assert "weights is 0.00," not in said["head_difference"]


def test_what_is_of_no_checkpoint_does_not_name_one() -> None:
    assert all("copy" not in each for each in captions("./why_attention?n=50").values())
    assert captions("./inspect?inspect=tensor")["tensor"].count("embedding.weight") == 2
