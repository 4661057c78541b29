"""python -m transformer syntax: which heads know relations of a treebank, and which carry them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from transformer.analysis.corpus_sweep import caution
from transformer.checkpoint import Checkpoint
from transformer.commands.command import Command, Result, add_checkpoint, new_file, positive
from transformer.corpus.summary import summary
from transformer.corpus.survey import Surveyor, counted
from transformer.corpus.surveyed import HeadSummary, Syntax
from transformer.corpus.syntax import Transfer, Transfers, transferring
from transformer.corpus.trees import Tree, read_trees
from transformer.files.foreign_text import write_whole
from transformer.fingerprint import fingerprint
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.training.evaluation.translations import say

AT_ONCE = 64
Best = tuple[str, HeadSummary, Syntax]


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `syntax` takes."""
    add_checkpoint(parser)
    parser.add_argument(
        "--trees",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="a .conllu file of sources; a second one of their translations, sentence by sentence",
    )
    parser.add_argument("--max", type=positive, metavar="N", help="only the first N sentences")
    parser.add_argument("--out", type=new_file, help="a .md page, such as docs/syntax.md")
    parser.add_argument(
        "--about", default="", help="where the trees are from, and their licence: stands in --out"
    )


def run(options: Namespace) -> Result:
    """Read the trees and both sides. Raises Refusal."""
    if len(options.trees) > 2:
        raise InputError("--trees takes one file, or two: the sources and their translations.")
    files = [read_trees(file)[: options.max] for file in options.trees]
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    transfers = _transfers(checkpoint, *files) if len(files) == 2 else None
    best, left_out = _encoder(checkpoint, *files)
    lines = _lines(checkpoint, best, transfers, len(files[0]))
    if options.out is not None:
        most = f" --max {options.max}" if options.max else ""
        trees = " ".join(file.name for file in options.trees)
        command = f"python -m transformer syntax {checkpoint.name} --trees {trees}{most} --out FILE"
        head = HEAD if transfers is None else f"{HEAD}{HEAD_OF_PAIRS}"
        weights = fingerprint(options.checkpoint)
        text = head.format(command=command, weights=weights, about=options.about).rstrip()
        write_whole(options.out, "\n".join([text, HEAD_OF_BEST, *lines, ""]).encode())
    encoder = [
        {"relation": name, "layer": head.layer, "head": head.head, **asdict(of)}
        for name, head, of in best
    ]
    cross = [_values(each) for each in transfers.relations] if transfers else []
    return {"encoder": encoder, "cross": cross, "left_out": left_out, "lines": lines}


def _values(each: Transfer) -> Result:
    layer, head = each.best
    values = {"layer": layer, "head": head}
    numbers = {name: float(getattr(each, name)[each.best]) for name in ("rates", "low", "high")}
    names = ("relation", "n_words", "n_sentences", "offset", "by_offset", "by_chance", "n_above")
    return {name: getattr(each, name) for name in names} | values | numbers


def _transfers(checkpoint: Checkpoint, sources: list[Tree], targets: list[Tree]) -> Transfers:
    with tqdm(total=len(sources), desc="Cross", unit="sentence", dynamic_ncols=True) as bar:
        for tally in transferring(checkpoint, sources, targets):
            bar.update(tally.n_sentences + tally.n_unspelled - bar.n)
    return tally.result()


def _encoder(
    checkpoint: Checkpoint, sources: list[Tree], targets: Sequence[Tree] = ()
) -> tuple[list[Best], list[str]]:
    """The best head of each relation, of the kind that reads the source; which trees are left out.

    Raises InputError where all of them are.
    """
    texts = [tree.text for tree in sources]
    if targets:
        texts = [f"{a}\t{b.text}" for a, b in zip(texts, targets, strict=True)]
    lines = dict(enumerate(texts, 1))
    trees = dict(enumerate(sources, 1))
    surveyor, heads = Surveyor(checkpoint, counts=counted(checkpoint, texts), trees=trees), []
    left_out: list[str] = []
    with tqdm(total=len(lines), desc="Encoder", unit="sentence", dynamic_ncols=True) as bar:
        for first in range(1, len(lines) + 1, AT_ONCE):
            some = {n: lines[n] for n in range(first, min(first + AT_ONCE, len(lines) + 1))}
            portion = surveyor.survey(some)
            heads += portion.heads
            for why in portion.left_out:
                say(why)
            left_out += portion.left_out
            bar.update(len(some))
    if not heads:
        raise InputError(f"There is no tree whose sentence can be read: {left_out[0]}")
    survey = summary(heads, surveyor.why_alone)
    best: dict[str, Best] = {}
    for head in survey.heads:
        for name, of in head.syntax.items():
            if name not in best or of.accuracy > best[name][2].accuracy:
                best[name] = name, head, of
    return sorted(best.values(), key=lambda each: -each[2].n_arcs), left_out


def _lines(
    checkpoint: Checkpoint, best: list[Best], transfers: Transfers | None, n: int
) -> list[str]:
    """Both tables, as Markdown."""
    lines = [
        f"## Which heads of the encoder know a relation ({checkpoint.name}, {n:,} sentences)",
        "",
        "| relation | arcs | best head | direction | share | 95 % | best offset | its share |",
        "| --- | ---: | --- | --- | ---: | --- | ---: | ---: |",
    ]
    for name, head, of in best:
        mark = " *" if of.low is not None and of.low > of.by_offset else ""
        low, high = (_share(each) for each in (of.low, of.high))
        lines.append(
            f"| {name} | {of.n_arcs:,} | L{head.layer} H{head.head}{mark} | {of.direction} | "
            f"{_share(of.accuracy)} | {low} to {high} | {of.offset:+d} | {_share(of.by_offset)} |"
        )
    lines += ["", "\\* The whole interval is above the best fixed offset."]
    lines += _caution(of.n_sentences for _, _, of in best)
    if transfers is None:
        return lines
    lines += [
        "",
        f"## Which heads of cross-attention carry a relation to its own kind "
        f"({transfers.n_sentences:,} pairs)",
        "",
        "| relation | words | best head | share | 95 % | best diagonal offset | its share | "
        "by chance | heads above |",
        "| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for each in transfers.relations:
        layer, head_ = each.best
        low, high = (_share(float(of[each.best])) for of in (each.low, each.high))
        mark = " *" if float(each.low[each.best]) > each.by_offset else ""
        lines.append(
            f"| {each.relation} | {each.n_words:,} | L{layer} H{head_}{mark} | "
            f"{_share(float(each.rates[each.best]))} | {low} to {high} | {each.offset:+d} | "
            f"{_share(each.by_offset)} | {_share(each.by_chance)} | "
            f"{each.n_above} of {each.rates.numel()} |"
        )
    lines += _caution(each.n_sentences for each in transfers.relations)
    if transfers.n_unspelled:
        lines += ["", f"{transfers.n_unspelled} pairs are left out: pieces do not spell the words."]
    return lines


def _caution(numbers: Iterable[int]) -> list[str]:
    """A line below a table whose intervals are over too few sentences."""
    text = caution(*numbers)
    return ["", text] if text else []


HEAD = """# Syntax of a treebank in heads

`{command}` writes this page, from the weights whose fingerprint is `{weights}`.
{about}

*Share*, in the first table: of all arcs of the relation, those along which the row of the dependent
has its largest weight on the head (*to head*), or the row of the head on the dependent.
"""
HEAD_OF_PAIRS = """\
In the second: of all words of the translation that have the relation, those for which, while they
are written, the source word with the largest weight has the same relation in its tree, in sentences
where some word has it. The model is made to read the translation as its target.
"""
HEAD_OF_BEST = """Beside it stands what a head gets that knows places only: the best fixed
offset between the two words, or from the diagonal of the two texts. The best head is the best of
all for these very sentences, so its share is a little high; its interval resamples sentences.
Weights say where a head looks, not that the output needs it.
"""


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


COMMAND = Command(
    "syntax",
    "say which heads know the relations of a treebank, and which carry them to a translation",
    add_arguments,
    run,
    text=lambda result: "\n".join(result["lines"]),
)
