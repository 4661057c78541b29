"""Formulas, written in a small part of LaTeX, as MathML: browsers set it without a library."""

import re
from html import escape

from transformer.refusal import Refusal

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\s]")
_SIGNS = {
    r"\sum": "∑",
    r"\max": "max",
    r"\log": "log",
    r"\min": "min",
    r"\exp": "exp",
    r"\ln": "ln",
    r"\sin": "sin",
    r"\cos": "cos",
    r"\times": "×",
    r"\le": "≤",
    r"\ge": "≥",
    r"\neq": "≠",
    r"\approx": "≈",
    r"\pm": "±",
    r"\to": "→",
    r"\prod": "∏",
    r"\partial": "∂",
    r"\mid": "|",
    r"\{": "{",
    r"\}": "}",
    r"\%": "%",
    r"\_": "_",
    r"\cdot": "·",
    r"\dots": "…",
    r"\in": "∈",
    r"\parallel": "∥",
    r"\Vert": "‖",
    r"\vert": "|",
    r"\top": "⊤",
    r"\infty": "∞",
    r"\lambda": "λ",
    r"\sigma": "σ",
    r"\varepsilon": "ε",
    r"\alpha": "α",
    r"\beta": "β",
    r"\gamma": "γ",
    r"\delta": "δ",
    r"\epsilon": "ϵ",
    r"\eta": "η",
    r"\theta": "θ",
    r"\mu": "μ",
    r"\pi": "π",
    r"\rho": "ρ",
    r"\tau": "τ",
    r"\phi": "ϕ",
    r"\omega": "ω",
    r"\Delta": "Δ",
    r"\Sigma": "Σ",
    "-": "−",
    "'": "′",
}
"""Signs for commands; letters are set as variables, all else as operators."""
_BIG = (r"\sum", r"\prod", r"\max", r"\min")
"""Signs that have their index below them."""
_NAMES = (r"\max", r"\min", r"\log", r"\exp", r"\ln", r"\sin", r"\cos")
LONGEST = 200
"""Signs of a formula: each may be within the one before it."""
_SPACE = '<mspace width="0.17em"></mspace>'
_WIDE = {r"\quad": '<mspace width="1em"></mspace>', r"\,": _SPACE, r"\ ": _SPACE}
_FENCES = (r"\left", r"\right")
"""Said before a bracket, which is as high as what it holds in any case."""


class FormulaError(Refusal):
    """A formula uses what is not part of ours; says so in one sentence."""


def mathml(formula: str, is_block: bool = True) -> str:
    r"""The same formula as a <math> element. Raises FormulaError.

    is_block: whether it stands by itself, and not within a line.

    >>> mathml(r"\frac{q_i}{2}")
    '<math display="block"><mfrac><msub><mi>q</mi><mi>i</mi></msub><mn>2</mn></mfrac></math>'
    """
    tokens = [each for each in _tokens(formula) if each not in _FENCES]
    if len(tokens) > LONGEST:
        raise FormulaError(f"A formula has {LONGEST} signs at most.")
    parts = _row(tokens)
    if tokens:
        raise FormulaError(f"A brace too many in {formula!r}.")
    block = ' display="block"' * is_block
    return f"<math{block}>{''.join(parts)}</math>"


def _tokens(formula: str) -> list[str]:
    """Last first, so that the next one is popped; what \text holds is one."""
    result: list[str] = []
    rest = formula
    while rest := rest.lstrip():
        if text := re.match(r"\\(?:mathrm|text)\{([^{}]*)\}", rest):
            result.append("text " + text[1])
            rest = rest[text.end() :]
        else:
            token = _TOKEN.match(rest)
            assert token is not None  # any character is one
            result.append(token[0])
            rest = rest[token.end() :]
    return result[::-1]


def _row(tokens: list[str]) -> list[str]:
    """Elements up to the end, or to the brace that closes the group."""
    parts: list[str] = []
    while tokens and tokens[-1] != "}":
        parts.append(_scripted(tokens))
    return parts


def _group(tokens: list[str]) -> str:
    """Read the next element."""
    if not tokens:
        raise FormulaError("A formula ends where something should follow.")
    if tokens[-1] != "{":
        return _atom(tokens)
    tokens.pop()
    parts = _row(tokens)
    if not tokens:
        raise FormulaError("A brace is not closed.")
    tokens.pop()
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def _scripted(tokens: list[str]) -> str:
    """An element with its index and exponent, in either order."""
    start = tokens[-1]
    base, scripts = _group(tokens), {}
    while tokens and tokens[-1] in ("_", "^"):
        place = tokens.pop()
        scripts[place] = _group(tokens)
    low, high = scripts.get("_", ""), scripts.get("^", "")
    if low and high:
        tag = "msubsup"
    elif low:
        tag = "munder" if start in _BIG else "msub"
    else:
        tag = "msup"
    whole = f"<{tag}>{base}{low}{high}</{tag}>" if scripts else base
    return whole + (_SPACE if start in _NAMES else "")


def _atom(tokens: list[str]) -> str:
    token = tokens.pop()
    if token.startswith("text "):
        return f"<mtext>{escape(token.removeprefix('text '))}</mtext>"
    if token == r"\frac":
        return f"<mfrac>{_group(tokens)}{_group(tokens)}</mfrac>"
    if token == r"\sqrt":
        return f"<msqrt>{_group(tokens)}</msqrt>"
    if token == r"\hat":
        return f"<mover>{_group(tokens)}<mo>^</mo></mover>"
    if token in _WIDE:
        return _WIDE[token]
    if token.startswith("\\") and token not in _SIGNS:
        raise FormulaError(f"{token} is not part of the LaTeX that is understood here.")
    sign = _SIGNS.get(token, token)
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if sign.isalpha():
        return f"<mi>{sign}</mi>"
    return f"<mo>{escape(sign)}</mo>"
