"""Targets of many texts: written together where a model can, a token of each at a step."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, Config
from transformer.corpus.batches import FURTHEST, PROBES, of_like_length, probe_ids
from transformer.decoding.decode import decode
from transformer.decoding.greedy import greedy
from transformer.decoding.method import Rules, length_limit, ruled, rules_of
from transformer.decoding.shared_batch import SharedBatch, alone
from transformer.decoding.steps import Decoding
from transformer.device import NotFinite, device_trouble
from transformer.finite import log_probabilities
from transformer.hugging_face.model import HuggingFaceModel
from transformer.inputs import InputError, source_ids
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.models.family import Ids
from transformer.models.token_model import TokenWriter
from transformer.own_module.model import OwnModel
from transformer.recording.ours import padded_batch
from transformer.recording.watched_batch import reads_masks
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.tokenizer import TokenizerError

# Greedy targets of many sources in one batch: ids only, for whoever keeps no distributions.


def takes_batches(checkpoint: Checkpoint) -> bool:
    """Tell whether `greedy_batch` is for this model: an encoder-decoder of ours, or one of the
    library or of one's own that writes in a batch, as far as it is tried, what it writes of each
    text alone.
    """
    model = checkpoint.model
    if isinstance(model, HuggingFaceModel):
        is_plain = bool(model.config.start_ids) and "greedy" not in checkpoint.about.decoding
    elif isinstance(model, OwnModel):
        is_plain = model.config.bos_id is not None
    else:
        return isinstance(model, EncoderDecoder)
    if not is_plain or not reads_masks(checkpoint):
        return False
    if model not in _WRITE_ALIKE:
        try:
            _WRITE_ALIKE[model] = _writes_alike(checkpoint)
        except Exception:  # of a stranger's model, which may not know batches at all
            _WRITE_ALIKE[model] = False
    return _WRITE_ALIKE[model]


_WRITE_ALIKE = WeakKeyDictionary[nn.Module, bool]()
"""Models of the library, and of one's own, that were tried."""
TRIED = 12
"""Tokens of each text that are written to try it."""


@torch.inference_mode()
def _writes_alike(checkpoint: Checkpoint) -> bool:
    """Compare the first tokens of a few texts of different lengths, and all their distributions."""
    model: Any = checkpoint.model
    sources = [probe_ids(checkpoint, length) for length in PROBES]
    batches_of_one = [torch.tensor([ids], device=checkpoint.device) for ids in sources]
    expected = [alone(model, greedy(model, ids, TRIED), ids)[0] for ids in batches_of_one]
    rows: list[list[Tensor]] = [[] for _ in sources]
    written = greedy_batch(checkpoint, sources, TRIED, lambda at, row: rows[at].append(row))
    return all(
        [*own.ids] == ids
        and float((torch.stack(of).cpu().exp() - own.log_probs.exp()).abs().max()) < FURTHEST
        for own, ids, of in zip(expected, written, rows, strict=True)
    )


@torch.inference_mode()
def greedy_batch(
    checkpoint: Checkpoint,
    sources: Sequence[Ids],
    max_len: int | None = None,
    on_row: Callable[[int, Tensor], object] | None = None,
) -> list[list[int]]:
    """The target of each source, end token included, as `decode(..., "greedy")` writes it.

    A padded batch rounds otherwise than one text by itself, so that of two tokens which are equally
    probable but for 1e-5 it may write the other. max_len: in tokens. on_row: told the place of a
    text and the log-probabilities [V] of each of its steps. All begin at once, so that no target
    is padded. Raises InputError and NotFinite as `decode` does, of any of them.
    """
    model: Any = checkpoint.model
    config, is_ours = checkpoint.config, isinstance(checkpoint.model, EncoderDecoder)
    if not isinstance(checkpoint.model, EncoderDecoder | HuggingFaceModel | OwnModel):
        raise ValueError(f"{checkpoint.name} writes no targets in a batch: decode them one by one.")
    of_source: int | None = getattr(config, "source_pad_id", None)
    pad = max(0, config.pad_id if of_source is None else of_source)
    batch = padded_batch(sources, pad, checkpoint.device)
    rooms = [max(1, length_limit(model, batch[:1, : len(ids)], max_len)) for ids in sources]
    rules: list[Rules | None] = [None] * len(sources)
    if is_ours:
        state = model.start(batch)
    else:
        rows = zip(batch, sources, rooms, strict=True)
        rules = [rules_of(model, row[None, : len(ids)], room) for row, ids, room in rows]
        mask = padded_batch([[1] * len(ids) for ids in sources], 0, checkpoint.device)
        state = model.start(batch, mask)
    tokens = model.first(batch).expand(len(sources), -1)
    targets: list[list[int]] = [[] for _ in sources]
    going = list(range(len(sources)))
    while True:
        scores = model.advance(state, tokens)[:, -1]
        own = log_probabilities(scores)
        for at, text in enumerate(going):
            row, rule = own[at], rules[text]
            if on_row is not None:
                on_row(text, row)
            if rule is not None:
                output = batch.new_tensor([targets[text]], dtype=torch.long)
                row = log_probabilities(ruled(rule, output, scores[at : at + 1]))[0]
            targets[text].append(int(row.argmax()))
        rows_left = [
            row for row, text in enumerate(going) if _goes_on(config, targets[text], rooms[text])
        ]
        if not rows_left:
            return targets
        if len(rows_left) < len(going):
            state.reorder(torch.tensor(rows_left, device=checkpoint.device))
            going = [going[row] for row in rows_left]
        tokens = batch.new_tensor([[targets[text][-1]] for text in going])


def _goes_on(config: Config, target: Sequence[int], room: int) -> bool:
    return target[-1] not in config.eos_ids and len(target) < room


# Many texts at a time: their steps are taken together, and the results keep their order.

AT_A_TIME = 16
"""Texts that are decoded at a time, where a model takes batches."""


def decode_many(
    checkpoint: Checkpoint, texts: Iterable[str], **options: Any
) -> Iterator[tuple[str, Decoding | Refusal]]:
    """Decode each text as `decode` does, with the same options, and give (text, result) in order.

    A text that is refused gives its Refusal, and the others go on. Models of ours take the steps of
    sixteen texts together; any other model reads one after the other. Results hold no
    distributions: see `Hypothesis.without_distributions`.
    """
    model: Any = checkpoint.model
    if not isinstance(checkpoint.model, TokenWriter):
        yield from ((text, _one(checkpoint, text, options)) for text in texts)
        return
    named = options | {"run": SharedBatch(model).run}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        waiting: deque[tuple[str, Future[Decoding | Refusal]]] = deque()

        def first() -> tuple[str, Decoding | Refusal]:
            text, future = waiting.popleft()
            return text, future.result()

        try:
            for text in texts:
                waiting.append((text, pool.submit(_one, checkpoint, text, named)))
                if len(waiting) == 2 * AT_A_TIME:  # so that a long one keeps no thread idle
                    yield first()
            while waiting:
                yield first()
        finally:
            for _, future in waiting:
                future.cancel()


def _one(checkpoint: Checkpoint, text: str, options: dict[str, Any]) -> Decoding | Refusal:
    try:
        return decode(checkpoint, text, **options).without_distributions()
    except Refusal as error:
        return error


# The output that an edit is judged by: what a model writes without it, greedily.


def judged_target(checkpoint: Checkpoint, source: str) -> tuple[Token, ...] | None:
    """Decode greedily what a sweep judges; None: it judges the text, or the class."""
    if not checkpoint.family.decodes or checkpoint.family.continues:
        return None
    return decode(checkpoint, source).target


def judged_targets(
    checkpoint: Checkpoint, sources: Sequence[str]
) -> dict[str, tuple[Token, ...] | None]:
    """Source -> its `judged_target`, decoded in one batch where the model takes batches.

    Sources that cannot be read are left out. A batch rounds otherwise: see `greedy_batch`. Raises
    DeviceError.
    """
    targets: dict[str, tuple[Token, ...] | None] = {}
    ids: dict[int, list[int]] = {}
    for n, source in enumerate(sources):
        with suppress(InputError, TokenizerError):
            if takes_batches(checkpoint):
                ids[n] = source_ids(checkpoint, source)
            else:
                targets[source] = judged_target(checkpoint, source)
    token = checkpoint.tokenizer.token
    for some in of_like_length(ids, WRITTEN_AT_A_TIME):
        with device_trouble():
            written = targets_of(checkpoint, {n: ids[n] for n in some})
        targets |= {sources[n]: tuple(map(token, target)) for n, target in written.items()}
        for n in (n for n in some if n not in written):  # it may have begun, and not gone on
            with suppress(InputError, TokenizerError):
                targets[sources[n]] = judged_target(checkpoint, sources[n])
    return targets


WRITTEN_AT_A_TIME = 128
"""Targets that are written together: a step reads one token of each, and rows end early."""


def targets_of(checkpoint: Checkpoint, sources: Mapping[int, Ids]) -> dict[int, list[int]]:
    """Number -> target of its source, in one batch; one by one where a text of it is refused.

    Whoever is left out is refused by itself.
    """
    try:
        return dict(zip(sources, greedy_batch(checkpoint, [*sources.values()]), strict=True))
    except (InputError, NotFinite):
        if len(sources) == 1:
            return {}
    targets: dict[int, list[int]] = {}
    for number, ids in sources.items():
        targets |= targets_of(checkpoint, {number: ids})
    return targets
