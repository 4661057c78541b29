"""Words that screens explain: one entry each, with its sentence, formula and source."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

# The declaration of a word that screens explain, and of its card.

Illustration = Literal["", "head", "layer", "row", "extremes", "candidates"]
"""The subject of a card's small picture, of the sentence on screen where a picture there has it:
the head; all heads of its layer; the row that is spoken of, as bars; of a metric the heads with the
least and the most of it; what a step could have written."""

HEADS = (
    "head_grid",
    "head_view",
    "head_map",
    "cell_steps",
    "decode_player",
    "snapshot_player",
)
"""Pictures that show heads."""


@dataclass(frozen=True)
class Word:
    """A word that is explained where it stands."""

    name: str
    sentence: str
    """One, which somebody understands who meets the word for the first time."""
    formula: str = ""
    """In LaTeX as viz/formula.py reads it; of every quantity."""
    source: str = ""
    """Its first definition; of every quantity that is not a name only."""
    heading: str = ""
    """The title of its card, where that is not its name."""
    spellings: tuple[str, ...] = ()
    """Its other spellings in texts."""
    stands_in: tuple[str, ...] = ()
    """The components whose texts underline it; what a page says of it is up to the page."""
    illustration: Illustration = ""

    @property
    def title(self) -> str:
        """The heading of its card."""
        return self.heading or self.name.replace("_", " ")


# Words that screens explain: one entry each, with its sentence, formula and source.

_ALL = (
    Word(
        "ablation",
        "A head is switched off, so that its layer gives what the other heads do, and the change "
        "of the output says what the head was worth.",
        r"\log p(y \vert z^h = 0) - \log p(y)",
        "Michel et al. 2019",
        heading="head ablation",
    ),
    Word(
        "activation_patching",
        "A state or a head of one run stands in for the same one of another run, and the change "
        "of the output says what it carries.",
        r"x^l_i = x'^l_i",
        "Meng et al. 2022, section 2; Zhang and Nanda 2023",
    ),
    Word(
        "bits",
        "The unit of information: 1 bit tells two equally likely cases apart, 2 bits four.",
        r"-\log_2 p",
        "Shannon 1948",
        heading="bit",
        spellings=("bits",),
        stands_in=("decode_player",),
    ),
    Word(
        "candidate",
        "A token that this step could have written, with the probability that the model gives it.",
        r"p(w \vert y_1 \dots y_{t-1}, x)",
        "Vaswani et al. 2017, section 3.4",
        spellings=("candidates",),
        stands_in=("decode_player",),
        illustration="candidates",
    ),
    Word(
        "copying_score",
        "How far a head copies: near 1, looking at a token makes that same token more likely and "
        "no other.",
        r"\frac{\sum \mathrm{Re} \lambda}{\sum \vert \lambda \vert}, \quad "
        r"\lambda \text{ of } W_E W_V W_O W_U",
        "Elhage et al. 2021",
    ),
    Word(
        "cross",
        "Each token that is written looks at the text that is read. Queries come from the "
        "decoder, which writes; keys and values come from the encoder, which reads.",
        r"Q = Y W_Q, \quad K = X W_K",
        "Vaswani et al. 2017, section 3.2.3",
        heading="cross-attention",
        spellings=("Cross",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        "decoder_self",
        "Each token of the target looks at itself and at those before it; the mask hides what is "
        "not written yet.",
        r"A_{ij} = 0 \quad \text{for } j > i",
        "Vaswani et al. 2017, section 3.2.3",
        heading="decoder self-attention",
        spellings=("Decoder",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        "effective_rank",
        "How many directions carry a matrix, from 1 to its rank: where all singular values σ are "
        "equal, it is their number.",
        r"\exp(-\sum_i p_i \ln p_i), \quad p_i = \frac{\sigma_i}{\sum_k \sigma_k}",
        "Roy and Vetterli 2007",
    ),
    Word(
        "encoder_self",
        "Each source token looks at all source tokens, earlier and later ones.",
        r"Q = X W_Q, \quad K = X W_K",
        "Vaswani et al. 2017, section 3.2.3",
        heading="encoder self-attention",
        spellings=("Encoder",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        "footprint",
        "Where the weight of a head lies on average: how far the key is from the query, in tokens; "
        "of cross-attention by the places of both in their texts.",
        r"f_d = \frac{1}{Q} \sum_i A_{i, i + d}",
        "after Clark et al. 2019, section 3",
    ),
    Word(
        "head",
        "One of several ways in which a layer looks from word to word. Layers and heads count from "
        "0. Each has its own queries, keys and values V; its output o is its weights A times V.",
        "o^h = A^h V^h",
        "Vaswani et al. 2017, section 3.2.2",
        spellings=("heads",),
        stands_in=HEADS,
        illustration="head",
    ),
    Word(
        "head_label",
        "What a head does over many sentences: it has a label where its score is surely above what "
        "is had by chance, after a correction for the number of heads and roles that were tried.",
        r"p \cdot n < .05",
        "Pande et al. 2021, section 3; Holm 1979",
        heading="label of a head",
    ),
    Word(
        "head_worth",
        "What a token of the output (of the given text, where a model continues it) loses on "
        "average when only this head is off; below 0 where the head does harm.",
        r"\frac{1}{T} (\log p(y) - \log p(y \vert z^h = 0))",
        "Michel et al. 2019",
        heading="worth of a head",
    ),
    Word(
        "intervention",
        "A change of the model while it runs (here: an edit). What the output does then shows a "
        "cause, which weights by themselves do not.",
        r"p(y \vert \mathrm{do}(z = z'))",
        "Pearl 2009, chapter 3; Vig et al. 2020",
    ),
    Word(
        "jensen_shannon",
        "How different the rows of two heads are, mean over queries: 0 bits where they are the "
        "same, 1 bit where they share no key.",
        r"H(\frac{a + b}{2}) - \frac{H(a) + H(b)}{2}",
        "Lin 1991",
        heading="Jensen-Shannon divergence",
    ),
    Word(
        "key",
        "What a token is found by, as a list of numbers: the better it fits a query, the more "
        "that query looks at its token. Columns are keys.",
        "k_j = x_j W_K",
        "Vaswani et al. 2017, section 3.2",
        spellings=("keys", "looks at"),
        stands_in=HEADS,
        illustration="row",
    ),
    Word(
        "kl_divergence",
        "How far the prediction is from the target that is asked for: the part of the loss that "
        "training can still remove.",
        r"\mathrm{KL}(p \parallel q) = \sum_w p_w \ln \frac{p_w}{q_w}",
        "Kullback and Leibler 1951",
        heading="KL divergence",
    ),
    Word(
        "label_smoothing",
        "The target keeps most of its probability, and a little, ε, is spread evenly over the "
        "whole vocabulary.",
        r"p_w = (1 - \varepsilon) [w = y] + \frac{\varepsilon}{V}",
        "Vaswani et al. 2017, section 5.4",
    ),
    Word(
        "layer",
        "One of the stages that follow each other: tokens look at each other (attention), then a "
        "feed-forward network works on each by itself. Layers and heads count from 0.",
        source="Vaswani et al. 2017, section 3.1",
        spellings=("layers",),
        stands_in=HEADS,
        illustration="layer",
    ),
    Word(
        "mask",
        "What a query may not look at: the weight there is 0, as the score is made −∞. A decoder "
        "must not see tokens that come later.",
        "A_{ij} = 0",
        "Vaswani et al. 2017, section 3.2.3",
        spellings=("masked",),
        stands_in=("head_grid", "head_map", "cell_steps", "snapshot_player"),
    ),
    Word(
        "measure",
        "What a cell of a map shows for a query and a key: the weight, or another quantity that "
        "is made from it.",
    ),
    Word(
        "nats",
        "The unit of information where logarithms are natural: 1 nat is 1.44 bits. Losses are "
        "given in nats.",
        r"-\ln p",
        "Shannon 1948",
        heading="nat",
        spellings=("nats",),
        stands_in=("snapshot_player",),
    ),
    Word(
        "ov_circuit",
        "What a head writes once it looks at a token, by its matrices only: which next tokens "
        "become more likely.",
        "W_E W_V W_O W_U",
        "Elhage et al. 2021",
        heading="OV circuit",
    ),
    Word(
        "head_change",
        "How differently a head looks in two models: the root of the Jensen-Shannon divergence of "
        "its rows; by itself, of B's head given the states of A.",
        r"\sqrt{\frac{1}{Q} \sum_i JS(A_i, B_i)}",
        "a metric: Endres and Schindelin 2003",
    ),
    Word(
        "position_dependence",
        "How differently a head looks once positions are changed: the Jensen-Shannon divergence "
        "of its rows from those of the run without edits, mean over queries, in bits.",
        r"\frac{1}{Q} \sum_i JS(A_i, A'_i)",
        "after Sinha et al. 2022",
    ),
    Word(
        "qk_circuit",
        "What a head would look at, by its matrices only: how well the key of each token fits the "
        "query of every other.",
        r"W_E W_Q W_K^\top W_E^\top",
        "Elhage et al. 2021",
        heading="QK circuit",
    ),
    Word(
        "query",
        "What a token looks for, as a list of numbers: it is compared with the key of every token "
        "that it may look at. Rows are queries.",
        "q_i = x_i W_Q",
        "Vaswani et al. 2017, section 3.2",
        spellings=("queries",),
        stands_in=HEADS,
        illustration="row",
    ),
    Word(
        "row",
        "A row of the decoder is one step, which has just read one token and writes the next: it "
        "is named by the one that it writes, or by the one that it has read.",
        source="Vaswani et al. 2017, section 3.1",
        heading="writing, reading",
        spellings=("writing", "reading"),
        stands_in=HEADS,
        illustration="row",
    ),
    Word(
        "scale",
        "The number by which q·k is multiplied, so that scores do not grow with the size of a "
        "head, d_head (d_k in the paper), and the softmax stays soft.",
        r"\frac{1}{\sqrt{d_k}}",
        "Vaswani et al. 2017, section 3.2.1",
        stands_in=("cell_steps",),
    ),
    Word(
        "softmax",
        "Turns a row of scores into weights that are positive and sum to 1; a score that is 1 "
        "higher gets 2.72 times the weight.",
        r"A_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",
        "Vaswani et al. 2017, section 3.2.1",
        stands_in=("cell_steps",),
        illustration="row",
    ),
    Word(
        "step_entropy",
        "How unsure the model is of the next token: 0 bits if one candidate is certain, 1 bit as "
        "for a fair coin.",
        r"H = -\sum_w p_w \log_2 p_w",
        "Shannon 1948",
        heading="entropy of a step",
        spellings=("entropy",),
        stands_in=("decode_player",),
        illustration="candidates",
    ),
    Word(
        "value",
        "What a token hands to those that look at it, as a list of numbers: a query gets the "
        "values of all tokens, each in proportion to its weight.",
        r"v_j = x_j W_V, \quad o_i = \sum_j A_{ij} v_j",
        "Vaswani et al. 2017, section 3.2",
        spellings=("values",),
        stands_in=HEADS,
        illustration="row",
    ),
)
WORDS: Mapping[str, Word] = MappingProxyType({word.name: word for word in _ALL})
"""Words by name."""
