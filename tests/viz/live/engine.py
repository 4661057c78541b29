"""The browser's engine in Node, and what it says other than Python does."""

import json
import random
import subprocess
from base64 import b64decode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.node import node
from transformer import decode, load_checkpoint, record
from transformer.analysis.lost import OPENS, function_words
from transformer.causes.change import (
    FUNCTION_WORDS,
    NEGATING,
    Carriers,
    ChangeSearch,
    searching_change,
)
from transformer.causes.evidence import Evidence, evidence
from transformer.checkpoint import Checkpoint
from transformer.decoding import Decoding
from transformer.editing.editor import within
from transformer.edits import edits_of
from transformer.recording import Recording
from transformer.token import Token
from transformer.training.evaluation.stage import stage_pairs
from transformer.words import word_groups, word_piece, words_in

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "viz" / "live" / "engine"
LOG_PROB, WEIGHT = 1e-4, 2e-5
"""The largest differences that are no fault: both count in 32 bits, in another order."""
MANY = 50
KERNELS = (False, True)
"""Whether JavaScript multiplies by itself."""


@cache
def checkpoint_of(name: str) -> Checkpoint:
    return load_checkpoint(ROOT / "checkpoints" / name)


SENTENCES = [source for source, _ in stage_pairs()]


def texts(name: str) -> list[str]:
    """Fifty texts that this checkpoint reads, of many lengths."""
    drawn = random.Random(name)
    if name == "copy":
        numbers = (drawn.choices(range(2, 12), k=drawn.randint(1, 7)) for _ in range(MANY))
        return [" ".join(map(str, each)) for each in numbers]
    if name.startswith("sentiment"):
        return SENTENCES[:MANY]
    beginnings = (" ".join(text.split()[: drawn.randint(1, 6)]) for text in SENTENCES)
    known = "".join(getattr(checkpoint_of(name).tokenizer, "characters", ()))
    return [each for each in beginnings if not known or set(each) <= set(known)][:MANY]


def ask(
    name: str, cases: Sequence[Mapping[str, Any]], is_plain: bool = False, engine: Path = ENGINE
) -> list[Any]:
    """Return what the engine gives for each case, of the checkpoint of this name."""
    folder = str(ROOT / "checkpoints" / name)
    asked = {"engine": str(engine), "checkpoint": folder, "isPlain": is_plain, "cases": cases}
    command = [node(), str(Path(__file__).with_name("ask.mjs"))]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout)
    return results


def groups_of(*sides: Sequence[Token]) -> dict[str, Any]:
    """The words of texts, by their ids: the engine is told of them."""
    return {",".join(str(each.id) for each in tokens): word_groups(tokens) for tokens in sides}


def differences(name: str, cases: Sequence[Mapping[str, Any]], **where: Any) -> list[str]:
    """Answer each case in both, and return what differs, a line each.

    A case has the arguments of `answer`: text, method, options, changes and prefix. What only
    reads is asked for no method.
    """
    checkpoint, expected, asked = checkpoint_of(name), [], []
    for case in cases:
        edits = case.get("changes", ())
        if not checkpoint.family.decodes:
            recording, decoding = record(checkpoint, case["text"], None, edits), None
        else:
            options = {"prefix": case.get("prefix", ()), **case.get("options", {})}
            decoding = decode(checkpoint, case["text"], case["method"], edits=edits, **options)
            made = within(checkpoint, case["text"], decoding.target, edits_of(edits))
            recording = record(checkpoint, case["text"], decoding.target, made)
        expected.append((recording, decoding))
        asked.append({"call": "answer", **case, "groups": groups_of(recording.source)})
    found: list[str] = []
    for case, (recording, decoding), given in zip(
        cases, expected, ask(name, asked, **where), strict=True
    ):
        if "error" in given:
            lines = [given["error"]]
        else:
            lines = _classified(recording, given) if decoding is None else _written(decoding, given)
            lines = lines or _looking(recording, given)
        found += [f"{case}: {line}" for line in lines]
    return found


def evidence_differences(
    name: str, texts: Sequence[str], method: str = "greedy", changes: Sequence[str] = ()
) -> list[str]:
    """Return what differs in the evidence of these texts, a line each."""
    checkpoint, expected, asked = checkpoint_of(name), [], []
    lists = {"functionWords": list(function_words(checkpoint)), "opens": OPENS}
    for text in texts:
        decoding = decode(checkpoint, text, method, edits=changes)
        expected.append(evidence(checkpoint, text, decoding.target, changes))
        groups = groups_of(decoding.source, decoding.target) | _going_on(name)
        spelled = _spelled(decoding.source)
        case = {"text": text, "method": method, "changes": changes, "groups": groups}
        asked.append({"call": "evidence", "lists": lists, "texts": spelled, **case})
    found: list[str] = []
    for text, own, given in zip(texts, expected, ask(name, asked), strict=True):
        found += [f"{text}: {line}" for line in _of_evidence(checkpoint, own, given)]
    return found


def _spelled(tokens: Sequence[Token]) -> dict[str, str]:
    """The text of each word, by its ids."""
    return {",".join(str(it.id) for it in word.tokens): word.text for word in words_in(tokens)}


def change_differences(
    name: str, texts: Sequence[str], carriers: Carriers, method: str = "beam"
) -> list[str]:
    """Return what differs in the smallest change of these texts, a line each."""
    checkpoint, expected, asked = checkpoint_of(name), [], []
    for text in texts:
        plain = decode(checkpoint, text, method)
        *_, search = searching_change(checkpoint, text, plain, method, carriers=carriers)
        expected.append(_plain(search))
        patterns = {"negating": NEGATING["de"], "functionWords": FUNCTION_WORDS["de"]}
        words = {"groups": groups_of(plain.source, plain.target), "texts": _spelled(plain.target)}
        groups = [[*map(str, group)] for group in carriers.groups]
        case = {"text": text, "method": method, "carriers": groups, "patterns": patterns}
        asked.append({"call": "change", **case, **words})
    pairs = zip(texts, ask(name, asked), expected, strict=True)
    return [f"{text}: {own} for {other}" for text, own, other in pairs if own != other]


def _plain(search: ChangeSearch) -> dict[str, Any]:
    """The search as the engine has it."""
    change = search.change
    found = change and {
        "heads": [*map(str, change.heads)],
        "difference": vars(change.difference),
        "text": change.text,
        "isKnown": change.is_known,
    }
    return {"change": found, "nScored": search.n_scored, "nDecoded": search.n_decoded}


@cache
def _going_on(name: str) -> dict[str, Any]:
    """Those tokens that go on with a word, as the engine asks for them: behind a letter."""
    checkpoint, before = checkpoint_of(name), Token(-1, "a")
    tokens = map(checkpoint.tokenizer.token, range(checkpoint.config.vocab_size))
    return {f"-1,{each.id}": [[0, 1]] for each in tokens if len(word_groups((before, each))) == 1}


def _of_evidence(checkpoint: Checkpoint, own: Evidence, given: Any) -> list[str]:
    if "error" in given:
        return [given["error"]]
    matrices = {
        "logProbs": own.log_probs,
        "withoutSource": own.without_source,
        "hidden": own.hidden,
        "cut": own.cut,
        "prefix": own.prefix,
        "weights": own.weights,
        "contrast": own.contrast,
    }
    bad = []
    for name, matrix in matrices.items():
        assert matrix is not None
        values, right = np.array(given[name]), matrix.numpy()
        if values.shape != right.shape:
            bad.append(f"{name}: {values.shape} for {right.shape}")
        elif not np.abs(values - right).max() <= LOG_PROB:
            bad.append(f"{name}: {np.abs(values - right).max():.2g} apart")
    lost = [list(span.words) for span in own.lost]
    bad += [f"lost: {given['lost']} for {lost}"] * (given["lost"] != lost)
    beside = [each is not None for each in own.beside]
    bad += ["words beside the source"] * (given["isBeside"] != beside)
    token = checkpoint.tokenizer.token
    foils = [word_piece([token(id)]).replace("▁", " ").strip() for id in given["runnerUps"]]
    names = [piece for word in own.runner_ups for piece in word.split(" + ")]
    return bad + [f"runners-up: {foils} for {names}"] * (foils != names)


def _classified(recording: Recording, given: Any) -> list[str]:
    result = recording.classification
    assert result is not None
    own, other = [each["name"] for each in given["classes"]], list(result.classes)
    best = result.classes[int(result.logits.argmax())]
    bad = [f"classes: {own} for {other}"] * (own != other)
    bad += [f"text: {given['text']} for {best}"] * (given["text"] != best)
    bad += ["something is written"] * bool(given["targetIds"] or given["steps"])
    for name, numbers in (("logit", result.logits), ("prob", result.probs)):
        pairs = zip((each[name] for each in given["classes"]), numbers.tolist(), strict=True)
        bad += [f"{name}: {own} for {other}" for own, other in pairs if _far(own, other)]
    return bad


def _written(decoding: Decoding, given: Any) -> list[str]:
    pairs = {
        "source": (given["sourceIds"], [token.id for token in decoding.source]),
        "target": (given["targetIds"], [token.id for token in decoding.target]),
        "text": (given["text"], decoding.text),
        "pieces": (_pieces(given["target"]), _pieces(map(vars, decoding.target))),
        "end": (given["isEnded"], decoding.is_ended),
        "hypotheses": (_ids(given["hypotheses"]), _ids(map(vars, decoding.hypotheses))),
        "leaves": (given["tree"]["leaves"], list(decoding.search.leaves)),
    }
    bad = [f"{what}: {own} for {other}" for what, (own, other) in pairs.items() if own != other]
    if bad:
        return bad
    numbers = _numbers(given, decoding)
    bad = [f"{what}: {own} for {other}" for what, own, other in numbers if _far(own, other)]
    return bad + _tree(given["tree"]["nodes"], decoding)


def _looking(recording: Recording, given: Any) -> list[str]:
    """What differs in tokens, weights and masks."""
    own = {kind: (of.queries, of.produced) for kind, of in recording.attentions.items()}
    bad = [f"kinds: {[*given['weights']]}"] * ([*given["weights"]] != [*own])
    bad += ["source"] * (_pieces(given["source"]) != _pieces(map(vars, recording.source)))
    if "decoder_self" in own:
        for name, tokens in zip(("read", "produced"), own["decoder_self"], strict=True):
            bad += [name] * (_pieces(given[name]) != _pieces(map(vars, tokens or ())))
    for kind, layers in given["weights"].items():
        attention = recording.attentions[kind]
        bad += [f"layers of {kind}"] * (len(layers) != attention.n_layers)
        for layer, packed in enumerate(layers):
            right = attention.weights(layer).numpy()
            weights = np.frombuffer(b64decode(packed), np.float32).reshape(right.shape)
            far = float(np.abs(weights - right).max())
            bad += [f"weights of {kind} L{layer}: {far:.2g} apart"] * (not far <= WEIGHT)
            cells = _cells(given["allowed"][kind][layer], right.shape)
            is_same = (cells == attention.allowed(layer).numpy()).all()
            bad += [f"mask of {kind} L{layer}"] * (not is_same)
    return bad


def _cells(packed: str | None, shape: tuple[int, ...]) -> Any:
    """bool [1 or H, Q, K] of cells that are kept in a byte each; None: all are open."""
    if packed is None:
        return np.ones(shape, bool)
    return np.frombuffer(b64decode(packed), np.uint8).reshape(-1, *shape[1:]).astype(bool)


def _pieces(tokens: Any) -> list[tuple[Any, ...]]:
    return [
        tuple(token[name] for name in ("id", "piece", "special", "unknown")) for token in tokens
    ]


def _ids(hypotheses: Any) -> list[list[int]]:
    return [list(each["ids"]) for each in hypotheses]


def _far(own: float, other: float) -> bool:
    return not abs(own - other) <= LOG_PROB  # what is not a number is far, too


def _numbers(given: Any, decoding: Decoding) -> list[tuple[str, float, float]]:
    """Name, own and Python's, of the numbers of hypotheses and steps."""
    numbers = []
    for own, other in zip(given["hypotheses"], decoding.hypotheses, strict=True):
        numbers += [("score", own["score"], other.score), ("sum", own["logProb"], other.log_prob)]
    for i, (step, other) in enumerate(zip(given["steps"], decoding.steps, strict=True)):
        best = {each["id"]: each["prob"] for each in step["candidates"]}
        numbers += [
            (f"step {i}", step["prob"], other.chosen.prob),
            (f"rest of {i}", step["rest"], other.rest),
            (f"entropy of {i}", step["entropy"], other.entropy),
            *((f"beside {i}", best.get(it.token.id, np.nan), it.prob) for it in other.candidates),
        ]
    return numbers


def _tree(nodes: Sequence[Any], decoding: Decoding) -> list[str]:
    """The nodes that are not those of Python's search, in their order."""
    bad = [] if len(nodes) == len(decoding.search.nodes) else ["the trees have not as many nodes"]
    for i, (own, other) in enumerate(zip(nodes, decoding.search.nodes, strict=False)):
        dropped = other.dropped and vars(other.dropped)
        facts = {
            "parent": other.parent,
            "token": other.token and other.token.id,
            "rank": other.rank,
            "isForced": other.is_forced,
            "hypothesis": other.hypothesis,
        }
        bad += [f"node {i}, {name}: {own[name]}" for name in facts if own[name] != facts[name]]
        numbers = [(own["logProb"], other.log_prob), (own["score"]["total"], other.score.total)]
        why = own["dropped"] or {}
        if dropped and why and dropped["score"] is not None and why["score"] is not None:
            numbers.append((why.pop("score"), dropped.pop("score")))
        bad += [f"node {i}: {a} for {b}" for a, b in numbers if _far(a, b)]
        bad += [f"node {i}: {why} for {dropped}"] * (dict(why) != dict(dropped or {}))
    return bad
