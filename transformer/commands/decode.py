"""python -m transformer decode: what a checkpoint makes of one text."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tqdm import tqdm

from transformer.causes.direct import with_encoder_layers
from transformer.causes.pruning import reference
from transformer.checkpoint import Checkpoint
from transformer.commands.command import Command, Result, add_checkpoint
from transformer.corpus.targets import decode_many
from transformer.decoding import Decoding, InputError, decode, decoding_methods
from transformer.decoding.method import Method
from transformer.formats.opening import load_checkpoint
from transformer.hugging_face.chat.chatting import chatting, remarks, text_read, turn_of
from transformer.refusal import Refusal, quoted, visible
from transformer.streams import lines_as_they_come, write_line


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `decode` takes."""
    add_checkpoint(parser)
    parser.add_argument("text", nargs="?")
    parser.add_argument(
        "--data",
        metavar="FILE",
        help="decode each line of a file, or of - (standard input), into a line of JSON; what "
        "follows a tab is left out",
    )
    methods = [name for name, method in decoding_methods().items() if not method.needs_target]
    parser.add_argument("--method", choices=methods, default="greedy")
    parser.add_argument(
        "--option", action="append", default=[], help="of the method, as in beam_size=8"
    )
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        help="change the model (an intervention), as in head-off:cross.2.3; may be repeated",
    )
    parser.add_argument("--prefix", default="", help="words that the target begins with")
    parser.add_argument(
        "--force",
        action="append",
        default=[],
        metavar="WORDS",
        help="words that must stand somewhere in the target (beam search); may be repeated",
    )
    parser.add_argument(
        "--forbid",
        action="append",
        default=[],
        metavar="WORDS",
        help="words that may not stand in the target; may be repeated",
    )
    parser.add_argument(
        "--tree", action="store_true", help="with all that the search looked at, in JSON"
    )
    parser.add_argument(
        "--encoder-layers",
        type=int,
        metavar="N",
        help="the decoder reads what the first N layers of the encoder give (DecoderLens)",
    )
    parser.add_argument(
        "--reference",
        metavar="TEXT",
        help="a translation, or continuation, to score word by word: where the model departs",
    )
    parser.add_argument("--template", help="a chat template of its folder: the text is a user's")
    parser.add_argument("--system", default="", help="a message before the text, by --template")
    help = "said before the text, as in user:TEXT or assistant:TEXT; may be repeated"
    parser.add_argument("--turn", action="append", default=[], help=help)


def run(options: Namespace) -> Result:
    """The text that the model writes, and its hypotheses. Raises Refusal."""
    if (options.text is None) == (options.data is None):
        raise InputError("decode takes a text, or --data with a file of them: give it one of both.")
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    if options.encoder_layers is not None:
        checkpoint = with_encoder_layers(checkpoint, options.encoder_layers)
    if options.template is not None:
        turns = [{"role": role, "content": words} for role, words in map(turn_of, options.turn)]
        checkpoint = chatting(checkpoint, options.template, options.system, turns)
    elif options.system or options.turn:
        raise InputError(
            "--system and --turn need --template: it is the template that writes them."
        )
    method = decoding_methods()[options.method]
    how = {"method": options.method, "edits": options.edit, "prefix": options.prefix}
    how |= {"force": options.force, "forbid": options.forbid}
    how |= dict(_value(method, option) for option in options.option)
    if options.data is not None:
        return _lines(checkpoint, options, how)
    read = text_read(checkpoint, options.text)
    if options.template is not None:
        print(visible(read, " \n"), file=sys.stderr)  # before it is read; stdout is the result's
    for remark in remarks(checkpoint, options.text):
        print(f"note: {visible(remark)}.", file=sys.stderr)
    decoding = decode(checkpoint, options.text, **how)
    scored = _scored(checkpoint, options, how)
    before = {} if options.template is None else {"read": read}
    return before | _result(decoding, options) | scored


def _result(decoding: Decoding, options: Namespace) -> Result:
    """The text and its hypotheses; and the tree, where it is asked for."""
    return {
        "text": decoding.text,
        "target": [token.piece for token in decoding.target],
        "hypotheses": [
            {"text": h.text, "log_prob": h.log_prob, "score": h.score}
            | ({} if h.n_lost is None else {"lost_words": h.n_lost})
            for h in decoding.hypotheses
        ],
    } | ({"tree": decoding.search.rows()} if options.tree else {})


def _lines(checkpoint: Checkpoint, options: Namespace, how: dict[str, Any]) -> Result:
    """Print a line of JSON for each line of the data, as soon as it is decoded.

    A line that is refused says why in "error". Raises Refusal where there were such lines, at the
    end.
    """
    if options.template is not None or options.reference is not None:
        raise InputError("--data takes no --template and no --reference: these are of one text.")
    n, n_refused = 0, 0
    lines = tqdm(_texts(options.data), unit="line", dynamic_ncols=True)
    for line, result in decode_many(checkpoint, lines, **how):
        n += 1
        row: Result = {"source": line}
        if isinstance(result, Refusal):
            n_refused += 1
            row["error"] = str(result)
        else:
            row |= _result(result, options)
        write_line(json.dumps(row, ensure_ascii=False))
    if n_refused:
        raise Refusal(f'{n_refused} of {n} lines were refused: see their "error".')
    return {}


def _texts(file: str) -> Iterator[str]:
    """The source of each line, as they come. Raises InputError."""
    yield from (line.partition("\t")[0] for line in lines_as_they_come(file))


def _scored(checkpoint: Checkpoint, options: Namespace, how: dict[str, Any]) -> Result:
    """The reference word by word, where there is one. Raises Refusal.

    how: of the decoding, whose decisions do not count: the model departs by itself.
    """
    if options.reference is None:
        return {}
    own = decode(checkpoint, options.text, **how | {"prefix": (), "force": (), "forbid": ()})
    of = checkpoint, options.text, options.reference, options.edit
    result = reference(*of, own=own.target)
    return {"reference": [asdict(word) for word in result.words]}


def _value(method: Method, option: str) -> tuple[str, Any]:
    """ "beam_size=8" as a name and a value of the type of its default. Raises InputError."""
    name, _, text = option.partition("=")
    options = {each.name: each for each in method.options}
    defaults: dict[str, Any] = {"max_len": 1} | {each: options[each].default for each in options}
    if name not in defaults:
        names = ", ".join(defaults) or "none"
        raise InputError(f"no option {quoted(name)} of this method; its options: {names}.")
    spellings = options[name].spellings if name in options else ()
    words = {str(word).lower(): word for word, _ in spellings}
    try:
        return name, words[text.lower()] if text.lower() in words else type(defaults[name])(text)
    except ValueError as error:
        raise InputError(f"{name} cannot be {quoted(text)}.") from error


def text(result: Result) -> str:
    """The text; below it a line for each word of a reference."""
    lines = [str(result["text"])]
    for each in result.get("reference", ()):
        ranks = ", ".join(f"{rank:,}" for rank in each["ranks"])
        name = "rank" if len(each["ranks"]) == 1 else "rank of each piece"
        line = f"{each['log_prob']:8.2f} nats  {visible(each['word'])}, {name} {ranks}"
        writes = f"  (writes {visible(each['instead'])})" if each["is_departure"] else ""
        lines.append(f"{line}{writes}")
    return "\n".join(lines)


COMMAND = Command("decode", "decode one text", add_arguments, run, text=text)
