"""The process that renders one chat template: a stranger's program, in a sandbox and with limits.

`transformer/hugging_face/chat/rendering.py` runs this file by its path. It writes a line once it is
ready, reads JSON from its input and writes JSON: the text, or why there is none. The environment is
that of `apply_chat_template` in Hugging Face's library, which would take seconds to import.
"""

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

MOST_CHARACTERS = 20_000
"""The longest text: `MAX_CHARACTERS` of transformer/inputs.py, not imported here."""
MOST_BYTES, MOST_SECONDS = 2**28, 2
"""Memory of the process, and seconds of a processor that it may use, with those of its start."""


class Generation(Extension):
    """The tag {% generation %}, which marks what an assistant wrote: its content as it stands."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Callable[[], str]) -> str:
        return caller()


class Dict:
    """The function `dict` of templates, without the attributes of Python's class."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, *values: Any) -> dict[Any, Any]:
        return dict.fromkeys(*values)


class PlainNamespace(Namespace):
    """The function `namespace` of templates, whose names begin with no underscore."""

    def __init__(*values: Any, **named: Any) -> None:
        self, attributes = values[0], dict(*values[1:], **named)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"the name {name!r} begins with an underscore")


def _raise(message: object) -> None:
    raise TemplateError(str(message))


def _json(
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def environment() -> ImmutableSandboxedEnvironment:
    """The environment of the library's chat templates."""
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    made.filters["tojson"] = _json
    made.globals |= {
        "raise_exception": _raise,
        "strftime_now": lambda format: datetime.now().strftime(format),
        "dict": Dict(),
        "namespace": PlainNamespace,
    }
    return made


def render(template: str, values: dict[str, Any]) -> dict[str, str]:
    """Return {"text": ...}, or {"error": ...}, which ends a sentence."""
    try:
        parts, n = [], 0
        for part in environment().from_string(template).generate(**values):
            parts.append(part)
            n += len(part)
            if n > MOST_CHARACTERS:
                return {"error": f"it writes more than {MOST_CHARACTERS:,} characters"}
        return {"text": "".join(parts)}
    except TemplateSyntaxError as error:
        return {"error": f"line {error.lineno}: {error.message}"}
    except SecurityError as error:
        return {"error": f"it reaches for what is closed to templates: {error}"}
    except MemoryError:
        return {"error": f"it takes more memory than {MOST_BYTES >> 20} MiB"}
    except TemplateError as error:
        return {"error": str(error)}
    except Exception as error:  # a template may fail like any program
        return {"error": f"{type(error).__name__}: {error}"}


def limit() -> None:
    """Set the limits that this system has: memory, processor, no file written, no process."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"RLIMIT_AS": MOST_BYTES, "RLIMIT_CPU": MOST_SECONDS, "RLIMIT_FSIZE": 0}
    limits |= {"RLIMIT_NPROC": 0, "RLIMIT_CORE": 0}
    for name, most in limits.items():
        try:
            resource.setrlimit(getattr(resource, name), (most, most))
        except (AttributeError, ValueError, OSError):  # not every system has each
            continue


def main() -> None:
    """Render what the input says."""
    limit()
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()
    request = json.loads(sys.stdin.buffer.read())
    if tuple(map(int, jinja2.__version__.split(".")[:3])) < (3, 1, 6):
        result = {"error": "jinja2 before 3.1.6 leaks from its sandbox: install a newer one"}
    else:
        result = render(request["template"], request["values"])
    sys.stdout.buffer.write(json.dumps(result).encode())


if __name__ == "__main__":
    main()
