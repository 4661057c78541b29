"""Words that screens explain: one entry each, with its sentence, formula and source."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

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
    title: str
    """The heading of its card."""
    sentence: str
    """One, which somebody understands who meets the word for the first time."""
    formula: str = ""
    """In LaTeX as viz/formula.py reads it; of every quantity."""
    source: str = ""
    """Its first definition; of every quantity that is not a name only."""
    spellings: tuple[str, ...] = ()
    """Its other spellings in texts."""
    stands_in: tuple[str, ...] = ()
    """The components whose texts underline it; what a page says of it is up to the page."""
    illustration: Illustration = ""


_ALL = (
    Word(
        name="ablation",
        title="head ablation",
        sentence=(
            "A head is switched off, so that its layer gives what the other heads do, and the "
            "change of the output says what the head was worth."
        ),
        formula=r"\log p(y \vert z^h = 0) - \log p(y)",
        source="Michel et al. 2019",
    ),
    Word(
        name="activation_patching",
        title="activation patching",
        sentence=(
            "A state or a head of one run stands in for the same one of another run, and the "
            "change of the output says what it carries."
        ),
        formula=r"x^l_i = x'^l_i",
        source="Meng et al. 2022, section 2; Zhang and Nanda 2023",
    ),
    Word(
        name="bits",
        title="bit",
        sentence=(
            "The unit of information: 1 bit tells two equally likely cases apart, 2 bits four."
        ),
        formula=r"-\log_2 p",
        source="Shannon 1948",
        spellings=("bits",),
        stands_in=("decode_player",),
    ),
    Word(
        name="candidate",
        title="candidate",
        sentence=(
            "A token that this step could have written, with the probability that the model "
            "gives it."
        ),
        formula=r"p(w \vert y_1 \dots y_{t-1}, x)",
        source="Vaswani et al. 2017, section 3.4",
        spellings=("candidates",),
        illustration="candidates",
        stands_in=("decode_player",),
    ),
    Word(
        name="copying_score",
        title="copying score",
        sentence=(
            "How far a head copies: near 1, looking at a token makes that same token more "
            "likely and no other."
        ),
        formula=(
            r"\frac{\sum \mathrm{Re} \lambda}{\sum \vert \lambda \vert}, \quad "
            r"\lambda \text{ of } W_E W_V W_O W_U"
        ),
        source="Elhage et al. 2021",
    ),
    Word(
        name="cross",
        title="cross-attention",
        sentence=(
            "Each token of the target looks at the source: queries come from the decoder, "
            "keys and values from the encoder."
        ),
        formula=r"Q = Y W_Q, \quad K = X W_K",
        source="Vaswani et al. 2017, section 3.2.3",
        spellings=("Cross",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        name="decoder_self",
        title="decoder self-attention",
        sentence=(
            "Each token of the target looks at itself and at those before it; the mask hides "
            "what is not written yet."
        ),
        formula=r"A_{ij} = 0 \quad \text{for } j > i",
        source="Vaswani et al. 2017, section 3.2.3",
        spellings=("Decoder",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        name="effective_rank",
        title="effective rank",
        sentence=(
            "How many directions carry a matrix, from 1 to its rank: where all singular "
            "values σ are equal, it is their number."
        ),
        formula=r"\exp(-\sum_i p_i \ln p_i), \quad p_i = \frac{\sigma_i}{\sum_k \sigma_k}",
        source="Roy and Vetterli 2007",
    ),
    Word(
        name="encoder_self",
        title="encoder self-attention",
        sentence="Each source token looks at all source tokens, earlier and later ones.",
        formula=r"Q = X W_Q, \quad K = X W_K",
        source="Vaswani et al. 2017, section 3.2.3",
        spellings=("Encoder",),
        stands_in=("head_grid", "head_map", "snapshot_player"),
    ),
    Word(
        name="head",
        title="head",
        sentence=(
            "One of several attentions that a layer runs side by side, each with queries, "
            "keys and values of its own. Layers and heads count from 0."
        ),
        formula="o^h = A^h V^h",
        source="Vaswani et al. 2017, section 3.2.2",
        spellings=("heads",),
        illustration="head",
        stands_in=HEADS,
    ),
    Word(
        name="intervention",
        title="intervention",
        sentence=(
            "A change of the model while it runs (here: an edit). What the output does then shows "
            "a cause, which weights by themselves do not."
        ),
        formula=r"p(y \vert \mathrm{do}(z = z'))",
        source="Pearl 2009, chapter 3; Vig et al. 2020",
    ),
    Word(
        name="jensen_shannon",
        title="Jensen-Shannon divergence",
        sentence=(
            "How different the rows of two heads are, mean over queries: 0 bits where they "
            "are the same, 1 bit where they share no key."
        ),
        formula=r"H(\frac{a + b}{2}) - \frac{H(a) + H(b)}{2}",
        source="Lin 1991",
    ),
    Word(
        name="key",
        title="key",
        sentence=(
            "The vector by which a token is found: the better it fits a query, the more that "
            "query looks at its token. Columns are keys."
        ),
        formula="k_j = x_j W_K",
        source="Vaswani et al. 2017, section 3.2",
        spellings=("keys", "looks at"),
        illustration="row",
        stands_in=HEADS,
    ),
    Word(
        name="kl_divergence",
        title="KL divergence",
        sentence=(
            "How far the prediction is from the target that is asked for: the part of the "
            "loss that training can still remove."
        ),
        formula=r"\mathrm{KL}(p \parallel q) = \sum_w p_w \ln \frac{p_w}{q_w}",
        source="Kullback and Leibler 1951",
    ),
    Word(
        name="label_smoothing",
        title="label smoothing",
        sentence=(
            "The target keeps most of its probability, and a little, ε, is spread evenly over"
            " the whole vocabulary."
        ),
        formula=r"p_w = (1 - \varepsilon) [w = y] + \frac{\varepsilon}{V}",
        source="Vaswani et al. 2017, section 5.4",
    ),
    Word(
        name="layer",
        title="layer",
        sentence=(
            "One stage of the model: attention, then a feed-forward network, each added to "
            "what came in. Layers and heads count from 0."
        ),
        source="Vaswani et al. 2017, section 3.1",
        spellings=("layers",),
        illustration="layer",
        stands_in=HEADS,
    ),
    Word(
        name="mask",
        title="mask",
        sentence=(
            "What a query may not look at: the score becomes −∞ and the weight 0. A decoder "
            "must not see tokens that come later."
        ),
        formula="A_{ij} = 0",
        source="Vaswani et al. 2017, section 3.2.3",
        spellings=("masked",),
        stands_in=("head_grid", "head_map", "cell_steps", "snapshot_player"),
    ),
    Word(
        name="measure",
        title="measure",
        sentence=(
            "What a cell of a map shows for a query and a key: the weight, or another "
            "quantity that is made from it."
        ),
    ),
    Word(
        name="nats",
        title="nat",
        sentence=(
            "The unit of information where logarithms are natural: 1 nat is 1.44 bits. Losses"
            " are given in nats."
        ),
        formula=r"-\ln p",
        source="Shannon 1948",
        spellings=("nats",),
        stands_in=("snapshot_player",),
    ),
    Word(
        name="ov_circuit",
        title="OV circuit",
        sentence=(
            "What a head writes once it looks at a token, by its matrices only: which next "
            "tokens become more likely."
        ),
        formula="W_E W_V W_O W_U",
        source="Elhage et al. 2021",
    ),
    Word(
        name="position_dependence",
        title="position dependence",
        sentence=(
            "How differently a head looks once positions are changed: the Jensen-Shannon "
            "divergence of its rows from those of the run without edits, mean over queries, "
            "in bits."
        ),
        formula=r"\frac{1}{Q} \sum_i JS(A_i, A'_i)",
        source="after Sinha et al. 2022",
    ),
    Word(
        name="qk_circuit",
        title="QK circuit",
        sentence=(
            "What a head would look at, by its matrices only: how well the key of each token "
            "fits the query of every other."
        ),
        formula=r"W_E W_Q W_K^\top W_E^\top",
        source="Elhage et al. 2021",
    ),
    Word(
        name="query",
        title="query",
        sentence=(
            "The vector of the token that looks: it is compared with the key of every token "
            "that it may look at. Rows are queries."
        ),
        formula="q_i = x_i W_Q",
        source="Vaswani et al. 2017, section 3.2",
        spellings=("queries",),
        illustration="row",
        stands_in=("head_view", "cell_steps"),
    ),
    Word(
        name="row",
        title="writing, reading",
        sentence=(
            "A row of the decoder is one step, which has just read one token and writes the "
            "next: it is named by the one that it writes, or by the one that it has read."
        ),
        source="Vaswani et al. 2017, section 3.1",
        spellings=("writing", "reading"),
        illustration="row",
        stands_in=HEADS,
    ),
    Word(
        name="scale",
        title="scale",
        sentence=(
            "What q·k is multiplied by, so that scores do not grow with the size of a head "
            "and the softmax stays soft."
        ),
        formula=r"\frac{1}{\sqrt{d}}",
        source="Vaswani et al. 2017, section 3.2.1",
        stands_in=("cell_steps",),
    ),
    Word(
        name="softmax",
        title="softmax",
        sentence=(
            "Turns a row of scores into weights that are positive and sum to 1; a score that "
            "is 1 higher gets 2.72 times the weight."
        ),
        formula=r"A_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",
        source="Vaswani et al. 2017, section 3.2.1",
        illustration="row",
        stands_in=("cell_steps",),
    ),
    Word(
        name="step_entropy",
        title="entropy of a step",
        sentence=(
            "How unsure the model is of the next token: 0 bits if one candidate is certain, 1"
            " bit as for a fair coin."
        ),
        formula=r"H = -\sum_w p_w \log_2 p_w",
        source="Shannon 1948",
        spellings=("entropy",),
        illustration="candidates",
        stands_in=("decode_player",),
    ),
    Word(
        name="value",
        title="value",
        sentence=(
            "The vector that a token hands to every query that looks at it, in proportion to "
            "the weight."
        ),
        formula=r"v_j = x_j W_V, \quad o_i = \sum_j A_{ij} v_j",
        source="Vaswani et al. 2017, section 3.2",
        spellings=("values",),
        illustration="row",
        stands_in=("cell_steps",),
    ),
)
WORDS: Mapping[str, Word] = MappingProxyType({word.name: word for word in _ALL})
"""Words by name."""
