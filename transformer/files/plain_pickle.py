"""A pickle of plain values, read without `pickle`: a small stack machine over its opcodes.

It makes dictionaries, lists, tuples, texts and numbers. An opcode that names a class, calls a
function or asks for memory by a number alone is not in its table, and ends the reading.
"""

import pickletools
from collections.abc import Callable
from typing import Any


class _Machine:
    """Values on a stack, marks between them, and the memo that refers back to them."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def since_mark(self) -> list[Any]:
        """Take off what was put on the stack since the last mark."""
        return self.last(len(self.stack) - self.marks.pop())

    def last(self, n: int) -> list[Any]:
        """The last n values; they are taken off."""
        if n > len(self.stack):
            raise ValueError("it takes more than it has")
        start = len(self.stack) - n
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def extend(self, values: list[Any]) -> None:
        """Into the list on top of the stack."""
        if not isinstance(self.stack[-1], list):
            raise ValueError("it appends to what is not a list")
        self.stack[-1].extend(values)

    def update(self, values: list[Any]) -> None:
        """Keys and values in turn, into the dictionary on top of the stack."""
        if not isinstance(self.stack[-1], dict):
            raise ValueError("it sets an item of what is not a dictionary")
        self.stack[-1].update(_dictionary(values))


def _dictionary(values: list[Any]) -> dict[Any, Any]:
    """Keys are texts and numbers: the hash of tuples in tuples may take for ever."""
    keys = values[::2]
    if not all(isinstance(key, str | int | float) for key in keys):
        raise ValueError("it has keys that are neither texts nor numbers")
    return dict(zip(keys, values[1::2], strict=True))


def _nothing(machine: _Machine, argument: Any) -> None:
    """Skip an opcode that only says how the file is written."""


def _argument(machine: _Machine, argument: Any) -> None:
    machine.stack.append(argument)


def _memoize(machine: _Machine, argument: Any) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def _pushing(make: Callable[[_Machine, Any], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, argument: machine.stack.append(make(machine, argument))


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(("PROTO", "FRAME"), _nothing),
    **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE", "BINFLOAT", "LONG1"), _argument),
    **dict.fromkeys(("BININT", "BININT1", "BININT2"), _argument),
    **dict.fromkeys(("MEMOIZE", "BINPUT", "LONG_BINPUT"), _memoize),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), _pushing(lambda m, number: m.memo[number])),
    "NONE": _pushing(lambda m, _: None),
    "NEWTRUE": _pushing(lambda m, _: True),
    "NEWFALSE": _pushing(lambda m, _: False),
    "EMPTY_DICT": _pushing(lambda m, _: {}),
    "EMPTY_LIST": _pushing(lambda m, _: []),
    "EMPTY_TUPLE": _pushing(lambda m, _: ()),
    "TUPLE1": _pushing(lambda m, _: tuple(m.last(1))),
    "TUPLE2": _pushing(lambda m, _: tuple(m.last(2))),
    "TUPLE3": _pushing(lambda m, _: tuple(m.last(3))),
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "TUPLE": _pushing(lambda m, _: tuple(m.since_mark())),
    "LIST": _pushing(lambda m, _: m.since_mark()),
    "DICT": _pushing(lambda m, _: _dictionary(m.since_mark())),
    "APPEND": lambda m, _: m.extend(m.last(1)),
    "APPENDS": lambda m, _: m.extend(m.since_mark()),
    "SETITEM": lambda m, _: m.update(m.last(2)),
    "SETITEMS": lambda m, _: m.update(m.since_mark()),
}
"""The effect of each opcode; those that are not here are refused."""


def read_plain_pickle(data: bytes) -> Any:
    """The value of a pickle that holds nothing but plain ones. Raises ValueError, which says why.

    >>> read_plain_pickle(b"\\x80\\x04}\\x94\\x8c\\x01a\\x94K\\x07s.")
    {'a': 7}
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                return machine.stack[-1]
            step = _STEPS.get(opcode.name)
            if step is None:
                raise ValueError(f"it holds more than plain values ({opcode.name})")
            step(machine, argument)
    except LookupError as error:
        raise ValueError("it refers to what it does not have") from error
    raise ValueError("it does not end")
