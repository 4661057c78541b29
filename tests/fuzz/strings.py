"""Texts that people, links and files may hold: ordinary, odd, hostile, long."""

import unicodedata
from random import Random

from tests.browser.payloads import PAYLOADS

WORDS = (
    *("The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired"),
    *(".", "3", "7", "2", "9", "11", "it's", "▁a"),
)
NUMBERS = (
    *("0", "-1", "1", "7", "1e400", "-1e400", "nan", "inf", "-inf", "1e308", "1e-400", "0x10"),
    *("1_000", "٣", "½", "9" * 5000, str(2**63), str(-(2**63) - 1), "1.5", "+1", " 1", "1,2"),
    *("999999999", "99999999999", "1,2,3", "1,", ",", "none", "yes", "no", "true", "1;2"),
)
ODD = (
    *("", " ", "\t", "\n", "\r\n", "\0", "\x1b[31m", "\ufeff", "\u200b", "\u200d", "\u202e", "▁"),
    *(
        "\ud800",
        "\udfff",
        "\uffff",
        "\U0010ffff",
        "e\u0301" * 40,
        "👨\u200d👩\u200d👧",
        "%s%n",
        "{}",
        "{0}",
    ),
    *(
        "${x}",
        "%(a)s",
        "../..",
        "/dev/zero",
        "~root",
        "C:\\x",
        "//host/share",
        "file:///etc/passwd",
    ),
    *("</s>", "<s>", "<unk>", "<0x0A>", "[MASK]", "'; drop table a", "=1+1", "@a", "-1+1", "\\"),
)


def strange_text(random: Random) -> str:
    """One of any sort."""
    match random.randrange(7):
        case 0:
            return " ".join(random.choices(WORDS, k=random.randrange(1, 12)))
        case 1:
            return random.choice(PAYLOADS)
        case 2:
            return random.choice(ODD) + random.choice(WORDS) + random.choice(ODD)
        case 3:
            return "".join(chr(_code(random)) for _ in range(random.randrange(1, 30)))
        case 4:
            return random.choice(NUMBERS)
        case 5:
            return random.choice((*WORDS, *ODD, *PAYLOADS)) * random.choice((1, 2, 50, 2000))
        case _:
            text = " ".join(random.choices((*WORDS, *ODD, *PAYLOADS, *NUMBERS), k=4))
            return unicodedata.normalize(random.choice(("NFC", "NFD", "NFKC", "NFKD")), text)


def _code(random: Random) -> int:
    most = random.choice((0x7F, 0xFF, 0x2FFF, 0xFFFF, 0x10FFFF))
    return random.randrange(most + 1)
