"""Settings of decoding methods from Python and from a shell: taken, or refused in a sentence."""

import contextlib
import io
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.decisions import NAMES, check_kept, strange_decisions
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.strings import NUMBERS, strange_text
from transformer import decode, load_checkpoint
from transformer.__main__ import main
from transformer.decoding import decoding_methods

ROOT = Path(__file__).parents[2]
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3.0, 0.5, 1e308, -1e308, 1e-308, 5e-324, 2**31, 2**63, 2**64, 10**400, True),
    *(float("nan"), float("inf"), float("-inf"), None, "4", "", b"1", [], {}, (1,), 1j, 100, -100),
)
MOST_BEAM = 64
"""More hypotheses are legal, and only take longer."""


def start(_: Path) -> Attempt:
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "copy", "cpu")
    methods = decoding_methods()
    names = ("max_len", *(each.name for method in methods.values() for each in method.options))

    def attempt(random: Random) -> None:
        method = random.choice(list(methods)) if random.randrange(9) else strange_text(random)
        given = {
            random.choice(names) if random.randrange(9) else strange_text(random): random.choice(
                VALUES
            )
            for _ in range(random.randrange(1, 4))
        }
        if isinstance(given.get("beam_size"), int) and given["beam_size"] > MOST_BEAM:
            given["beam_size"] = MOST_BEAM
        if random.randrange(3) == 0:
            _from_a_shell(random, method, given)
            return
        if random.randrange(2) == 0:
            given = {name: given[name] for name in list(given)[:1] if random.randrange(3) == 0}
            given |= strange_decisions(random, checkpoint.config.vocab_size)
        target = {"target": random.choice(("3 7", strange_text(random)))}
        given |= target if method == "forced" else {}
        decoding = decode(checkpoint, "3 7 2 9", method, **given)
        check_kept([token.id for token in decoding.target], given)
        assert decoding.target and all(each.log_prob <= 0 for each in decoding.hypotheses)

    return attempt


def _from_a_shell(random: Random, method: str, given: dict[str, Any]) -> None:
    """It ends with status 0, or with a short message and status 1 or 2."""
    arguments = ["decode", str(ROOT / "checkpoints" / "copy"), "3 7", "--device", "cpu"]
    arguments += [f"--method={method}"]
    for name, value in given.items():
        said = random.choice(NUMBERS) if random.randrange(3) else f"{value!s:.5000}"
        if name == "beam_size" and said.isdigit() and int(said[:9]) > MOST_BEAM:
            said = str(MOST_BEAM)
        arguments += [f"--option={name}={said}"]
    if random.randrange(2) == 0:
        words = ("3", "7 2", "11", "</s>", "", strange_text(random)[:200])
        for name in random.sample(NAMES, k=random.randrange(1, 4)):
            arguments += [f"--{name}={random.choice(words)}"]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            status = main([each.replace("\0", "") for each in arguments])
        except SystemExit as ended:
            status = ended.code
    said = errors.getvalue()
    assert status in (0, 1, 2) and "Traceback" not in said and len(said) < 3000, said[:500]


KIND = Kind("decoding", start, n=3000, n_quick=40)
