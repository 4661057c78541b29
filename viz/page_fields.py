"""The fields of the Screen that a single page reads. Each page's are declared in FIELDS."""

from dataclasses import dataclass

from viz.choice import CHECKPOINT, HEAD_B, REQUEST, SECOND, STORY, PageFields, choice
from viz.spelling import HEADS, NAME, NUMBER, PAIR, PINS, TEXT, WHOLE, WHOLES, YES, one_of

# The choices of Compare beside A: B, which is a checkpoint or A with edits, and its head.

TEXT_B = REQUEST | SECOND | {"method_b", "own_b", "kind_b"}
"""The fields that make rows and columns of B."""


@dataclass(frozen=True)
class CompareFields:
    """The choices of Compare; those of a head are named as A's, with "_b"."""

    checkpoint_b: str | None = choice(NAME)
    weights_b: str | None = choice(NAME, None, frozenset(("checkpoint_b",)))
    """The start of its SHA-256, as `weights` is of A's."""
    edited_b: bool = choice(YES, False)
    """True: B is A with `edits`, where it is no other checkpoint."""
    method_b: str | None = choice(NAME)
    """The decoding method by which B writes, where it is A otherwise."""
    own_b: bool = choice(YES, False)
    """True: B, with edits, writes by itself; else it reads what A wrote."""
    same_head: bool = choice(YES, False)
    """True: B shows the head that A shows, and A that of B, where they are of two runs."""
    kind_b: str | None = choice(NAME, None, SECOND)
    layer_b: int | None = choice(WHOLE, None, SECOND)
    head_b: int | None = choice(WHOLE, None, SECOND)
    heads_b: tuple[int, ...] | None = choice(WHOLES, None, CHECKPOINT | SECOND | HEAD_B)
    pins_b: tuple[str, ...] = choice(PINS, (), TEXT_B | {"tokens", "special", "between"})
    """Rows and columns of B that are pinned, of tokens that A has not."""
    cell_b: tuple[int, int] | None = choice(PAIR, None, TEXT_B)


# The choices of Decode: steps or the whole text, and a second sentence for a text's vector.


@dataclass(frozen=True)
class DecodeFields:
    """The choices of Decode."""

    decode_as: str | None = choice(one_of("tree", "steps", "text", "reference"))
    """The search as a tree, the output step by step, or as a text with the probability of each
    word; or a reference. None: the tree, where more than one hypothesis was followed."""
    reference: str | None = choice(TEXT)
    """A translation, or continuation, that the model scores word by word."""
    second_text: str | None = choice(TEXT)
    """The sentence whose vector is compared with the text's."""
    decoder_lens: bool = choice(YES, False, CHECKPOINT)
    """The texts that lower layers of the encoder give are open."""
    hypotheses: bool = choice(YES, False, CHECKPOINT)
    """All finished hypotheses are open, with their scores in parts."""
    side_by_side: bool = choice(YES, False, CHECKPOINT)
    """The texts of all decoding methods are open."""


# The choices of Sweep: a tool, its settings, and the order of its results.


@dataclass(frozen=True)
class ExperimentFields:
    """The choices of Sweep."""

    experiment: str | None = choice(NAME)
    """Its name; None: the first one."""
    sweep_sort: str = choice(NAME, "change")
    """The order: by the total "change", by "layer", or by a word: "word 3"."""
    sweep_kind: str = choice(NAME, "all", CHECKPOINT)
    """The kind of attention whose heads a sweep shows."""
    sweep_pairs: int = choice(WHOLE, 0)
    """The number of heads of which all pairs are tried."""
    sweep_over: str = choice(one_of("sentence", "sentences"), "sentence")
    """The texts that are swept: the sentence above, or those that were entered for it."""
    sweep_sentences: str | None = choice(TEXT, None, CHECKPOINT)
    """One per line; None: the checkpoint's examples."""
    sweep_asked: bool = choice(YES, False, REQUEST | {"sweep_over", "sweep_sentences"})
    """True: the sweep of these texts has begun; until then a button says how long it takes."""
    patch_from: str | None = choice(TEXT)
    """The sentence from which states and heads are put into `text`."""


# The choices of Explore alone.


@dataclass(frozen=True)
class ExploreFields:
    """The choices of Explore."""

    asks: str | None = choice(one_of("there", "back"), None, REQUEST)
    """The heads are listed that look from the words that are pinned first to those that are pinned
    then, or back; None: they are not asked for."""


# The choices of Heads: all of them or one, the axes of their map, and which the table lists.


@dataclass(frozen=True)
class HeadsFields:
    """The choices of Heads."""

    heads_of: str = choice(one_of("all", "one", "ask", "align"), "all")
    """All heads, the one that kind, layer and head name, those that answer a question, or those of
    cross-attention by how well they align words."""
    heads_survey: bool = choice(YES, False, CHECKPOINT)
    """A survey is made, of a checkpoint that has none."""
    heads_kind: str | None = choice(NAME, None, CHECKPOINT)
    """The kind whose heads are seen; None: all kinds, each on a map of its own."""
    heads_x: str = choice(NAME, "likeness")
    """The number along the map; "likeness": heads of like footprints are near each other."""
    heads_y: str = choice(NAME, "worth")
    heads_find: str = choice(TEXT, "")
    """A part of the name or of a label of those that the table lists."""
    heads_order: str = choice(NAME, "layer")
    """The column that the table is sorted by."""
    heads_among: tuple[tuple[str, int, int], ...] = choice(HEADS, (), CHECKPOINT)
    """The heads that were chosen on a map; (): all."""
    heads_ask: str = choice(TEXT, "")
    """The question that is asked."""


# The file, the tensor and the words that Inspect shows.


@dataclass(frozen=True)
class InspectFields:
    """The choices of Inspect."""

    inspect: str | None = choice(NAME)
    """The part of the page; None: the first one."""
    tensor: str | None = choice(NAME)
    tensor_rows: tuple[int, int] | None = choice(PAIR, None, CHECKPOINT | {"tensor"})
    """The first and the last one."""
    tensor_columns: tuple[int, int] | None = choice(PAIR, None, CHECKPOINT | {"tensor"})
    pooling: str = choice(one_of("largest", "mean"), "largest")
    kind_circuit: str | None = choice(NAME, None, CHECKPOINT)
    """The head whose circuits are shown, with its layer and its number."""
    layer_circuit: int | None = choice(WHOLE, None, CHECKPOINT)
    head_circuit: int | None = choice(WHOLE, None, CHECKPOINT)
    circuit_words: str | None = choice(TEXT)
    """None: the checkpoint's examples."""
    split: str | None = choice(TEXT)
    """The text that is split into pieces; None: the checkpoint's first example."""
    piece: str = choice(TEXT, "")
    """A part of the pieces that are listed."""
    lacking: bool = choice(YES, False)
    """True: only under-trained ones are listed."""
    table: str | None = choice(NAME)
    """The table of learned positions."""


# The sentence of the learner's own, in a lesson.


@dataclass(frozen=True)
class LessonsFields:
    """The choices of Lessons, beside the lesson, which is a story."""

    own_text: str | None = choice(TEXT, None, STORY)
    """The sentence that the last task of a lesson is about."""


# The second sentence of Masks, and the masks that are shown.


@dataclass(frozen=True)
class MasksFields:
    """The choices of Masks."""

    mask_text: str | None = choice(TEXT)
    """The second sentence; None: the one that is offered."""
    mask_kind: str | None = choice(NAME)
    masks: str = choice(one_of("used", "textbook"), "used")
    """The mask that is drawn: the one that the model used, or the textbook's."""


# The topic of Training, and the sizes and steps that it shows.


@dataclass(frozen=True)
class TrainingFields:
    """The choices of Training."""

    topic: str | None = choice(NAME)
    position: int = choice(WHOLE, 0)
    """The place in the target where labels are smoothed."""
    epsilon: float | None = choice(NUMBER)
    d_model: int | None = choice(WHOLE)
    warmup: int | None = choice(WHOLE)
    log: bool = choice(YES, False)
    """True: steps are on a logarithmic axis."""
    snapshot: int | None = choice(WHOLE, None, REQUEST)
    """The step of training at which it was taken."""
    metric: str | None = choice(NAME)


# The sizes that Why attention compares layers at.


@dataclass(frozen=True)
class WhyAttentionFields:
    """The choices of Why attention: None is the usual size."""

    d: int | None = choice(WHOLE)
    k: int | None = choice(WHOLE)
    n: int | None = choice(WHOLE)
    r: int | None = choice(WHOLE)


FIELDS = {
    each.name: each
    for each in (
        PageFields("compare", CompareFields, before="step"),
        PageFields("decode", DecodeFields),
        PageFields("sweep", ExperimentFields, before="view"),
        PageFields("explore", ExploreFields),
        PageFields("heads", HeadsFields),
        PageFields("inspect", InspectFields),
        PageFields("lessons", LessonsFields),
        PageFields("masks", MasksFields),
        PageFields("training", TrainingFields),
        PageFields("why_attention", WhyAttentionFields),
    )
}
"""The choices of each page, by its name."""
