"""Texts that Markdown, HTML, LaTeX or Streamlit would make something else of, and who sees it.

Each holds the word MARK between signs. Where the signs did their work, an element has nothing but
that word in it, or leads, loads or runs something that is named by it: `hits` finds these, in
Streamlit's page and inside of components.
"""

from typing import Any

from playwright.sync_api import Locator, Page

MARK = "zqx"
SITE = f"https://{MARK}.example"
IN_MARKDOWN = (
    *(f"{sign}{MARK}{sign}" for sign in ("**", "__", "*", "_", "***", "`", "``", "~~", "$", "$$")),
    f"a **{MARK}** b",
    f"a ${MARK}$ b",
    f"[{MARK}]({SITE})",
    f"[{MARK}](<{SITE}>)",
    f"![{MARK}]({SITE}/i.png)",
    f"[![{MARK}]({SITE}/i.png)]({SITE})",
    f"<{SITE}>",
    f"<mail@{MARK}.example>",
    f"{SITE}/login",
    f"a {SITE}/login b",
    f"(http://{MARK}.example)",
    f"www.{MARK}.example",
    f"a www.{MARK}.example/b",
    f"WWW.{MARK}.example",
    f"mail@{MARK}.example",
    f"a mail@{MARK}.example b",
    f":red[{MARK}]",
    f":blue-background[{MARK}]",
    f":orange-badge[{MARK}]",
    f":rainbow[{MARK}]",
    f":small[{MARK}]",
    f":material/{MARK}:",
    f"{MARK} :streamlit:",
    f"{MARK} :smile:",
    f"{MARK} -> {MARK}",
    f"{MARK} <- {MARK}",
    f"{MARK} <-> {MARK}",
    f"{MARK} -- {MARK}",
    f"{MARK} >= {MARK}",
    f"{MARK} <= {MARK}",
    f"&lt;{MARK}&gt;",
    f"&#60;{MARK}&#62;",
    f"# {MARK}",
    f"### {MARK}",
    f"> {MARK}",
    f"- {MARK}",
    f"* {MARK}",
    f"+ {MARK}",
    f"1. {MARK}",
    f"2) {MARK}",
    f"- [ ] {MARK}",
    f"a\n\n# {MARK}",
    f"a\n\n    {MARK}",
    f"a\n\n```\n{MARK}\n```",
    f"a\n\n{MARK}\n===",
    f"| a |\n| - |\n| {MARK} |",
    f"[{MARK}][i]\n\n[i]: {SITE}",
    f"a\u202e{MARK}",
    f"a\u2066{MARK}\u2069",
    f"שלום **{MARK}**",
    f"می\u200cخواهم *{MARK}*",
    f"a 👩\u200d👧 [{MARK}](b)",
)
IN_HTML = (
    f"<b>{MARK}</b>",
    f"a<i>{MARK}</i>",
    f"שלום<b>{MARK}</b>",
    f"می\u200cخواهم <b>{MARK}</b>",
    f'"><u>{MARK}</u>',
    f"'><u>{MARK}</u>",
    f"</title><b>{MARK}</b>",
    f"--><b>{MARK}</b>",
    f'<span style="color:red">{MARK}</span>',
    f'<a href="{SITE}">a</a>',
    f'<a href="javascript:window.{MARK}=1">{MARK}</a>',
    f"<script>window.{MARK}=1</script>",
    f'<img src="data:x,{MARK}" onerror="window.{MARK}=1">',
    f'<svg onload="window.{MARK}=1"></svg>',
    f'<iframe src="data:text/html,{MARK}"></iframe>',
    f'<details open ontoggle="window.{MARK}=1"></details>',
    f'<form action="{SITE}"><button>a</button></form>',
    f'<object data="data:text/plain,{MARK}"></object>',
    f"<math><mtext>{MARK}</mtext></math>",
    f"<style>.{MARK} {{}}</style>",
    f'<base target="{MARK}">',
    f'<video src="data:x,{MARK}"></video>',
)
PAYLOADS = (*IN_MARKDOWN, *IN_HTML)

_HITS = """
(root) => {
    const mark = "zqx", found = [];
    const leads = ["href", "xlink:href", "src", "action", "data", "target", "style"];
    // What Plotly draws as a bitmap: its letters are chance, and may happen to be the mark's.
    const pixels = /^data:image\\/png;base64,[A-Za-z0-9+\\/=]*$/;
    const typed = ["INPUT", "TEXTAREA"], never = ["SCRIPT", "STYLE", "PRE", "CODE"];
    const made = [`${mark} →`, `${mark} ←`, `${mark} ↔`, `${mark} —`, `${mark} ≥`, `${mark} ≤`];
    const wrong = [...made, "\\u202e", "\\u2066", "😄", "<" + mark];
    const look = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
            const said = wrong.find((each) => node.data.includes(each));
            if (said) found.push(`text ${node.data.slice(0, 80)}`);
            return;
        }
        if (node.nodeType === Node.ELEMENT_NODE && !typed.includes(node.tagName)) {
            const text = node.textContent.trim();
            // Cells of tables are pixels: what readers aloud get of them is text, also of the mark.
            const isCell = node.dataset?.testid?.startsWith("glide-cell");
            if ((text === mark && !isCell) || (never.includes(node.tagName) && text.includes(mark)))
                found.push(node.outerHTML.slice(0, 120));
            for (const { name, value } of node.attributes)
                if ((leads.includes(name) || name.startsWith("on")) && value.includes(mark)
                    && !value.startsWith("./") && !pixels.test(value))
                    found.push(node.outerHTML.slice(0, 120));
            if (node.classList.contains("katex") && text.includes(mark)) found.push("a formula");
            if (node.getAttribute("alt") === "Streamlit logo") found.push("the logo of Streamlit");
            if (node.shadowRoot) node.shadowRoot.childNodes.forEach(look);
        }
        node.childNodes.forEach(look);
    };
    look(root);
    if (window[mark] === 1) found.push("a script ran");
    return found;
}
"""


def hits(where: Page | Locator) -> list[Any]:
    """What was made of payloads, on a page or in an element: [] where all of it is text."""
    element = where.locator("body") if isinstance(where, Page) else where
    found: list[Any] = element.evaluate(_HITS)
    return found
