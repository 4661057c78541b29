"""Chat templates: rendered by a process of its own, which is killed after a second."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformer.files.foreign_text import clean
from transformer.tokenizer import TokenizerError

SECONDS = 1.0
"""The time that a template may take, from when its process is ready."""
LARGEST = 2**20
"""Characters of a template: the longest that people use have 20,000."""
PROCESS = Path(__file__).with_name("render_process.py")
PASSED = ("TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that the process is told: nothing that a template should not read."""


def rendered(
    template: str, text: str, earlier: Sequence[tuple[str, str]], tokens: Mapping[str, Any]
) -> str:
    """The text that a model reads, when a user says `text` and an assistant is to answer.

    earlier: what was said before, each a role and a text. tokens: the tokenizer's special ones,
    by their names in templates, as bos_token. Raises TokenizerError, with the template's own words.
    """
    turns = (*earlier, ("user", text))
    messages = [{"role": role, "content": words} for role, words in turns]
    values = {
        **{"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True},
        **tokens,
    }
    result = _result(template, json.dumps(values), date.today())
    if "error" in result:
        why = clean(" ".join(result["error"].split()), 300).rstrip(".")
        raise TokenizerError(f"The chat template gives no text: {why}.")
    return result["text"]


@lru_cache(maxsize=256)
def _result(template: str, values: str, today: date) -> dict[str, str]:
    """Return what the process says. today: some templates write the date.

    Raises TokenizerError where it says nothing: that is not kept, as the machine may be busy.
    """
    if len(template) > LARGEST:
        return {"error": f"it has more than {LARGEST:,} characters"}
    request = json.dumps({"template": template, "values": json.loads(values)}).encode()
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    command = [sys.executable, "-I", "-c", _START, str(PROCESS), *sys.path]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.read(1)  # its start takes as long as the machine lets it
            output, _ = process.communicate(request, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise TokenizerError(
                f"The chat template was stopped: it takes longer than {SECONDS:g} s."
            ) from None
        finally:
            process.kill()
    try:
        result: dict[str, str] = json.loads(output)
    except ValueError:
        raise TokenizerError(
            "The chat template was stopped: it takes more time or memory than it may."
        ) from None
    return result


_START = "import sys; sys.path += sys.argv[2:]; exec(open(sys.argv[1], 'rb').read())"
"""Finds jinja2 where this process finds it; -I leaves out the working folder and variables."""
