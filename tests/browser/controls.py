"""python -m tests.browser.controls: how many controls each page shows before any click, for the
first visit of somebody and for whoever has opened all of them.
"""

from itertools import product

from playwright.sync_api import Page, sync_playwright

from tests.browser.server import DESKTOP, FIRST_VISIT, PHONE, SEES_ALL, at_rest, launch, serve

CONTROLS = (
    "a[href], button, select, input, textarea, summary, "
    '[role="radio"], [role="switch"], [role="tab"], [role="slider"], [role="menuitem"]'
)
LEFT_OUT = (
    ".token, .word, [data-side], .cell, .candidate, td, th, "
    '.modebar, [data-testid="stElementToolbar"], [inert]'
)
"""Words of the text, squares of heads, cells of tables, tools of charts."""
FIELDS = ".stSelectbox, .stNumberInput, .stTextInput, .stCheckbox, label"
"""Each of them is one control, whatever it is made of."""
COUNT = """([CONTROLS, LEFT_OUT, FIELDS]) => {
    const [seen, controls, terms] = [new Set(), [], []];
    const around = (node, selector) => {
        let at = node;
        while (at && !at.matches?.(selector)) at = at.parentNode ?? at.host;
        return at;
    };
    const isInWindow = (node) => {
        const { top, bottom, left, right, width, height } = node.getBoundingClientRect();
        const how = { visibilityProperty: true, opacityProperty: true };
        const isThere = width && height && node.checkVisibility(how);
        return isThere && top < innerHeight && bottom > 0 && left < innerWidth && right > 0;
    };
    const walk = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.shadowRoot) walk(node.shadowRoot);
            const isTerm = node.matches(".term");
            if (!(isTerm || node.matches(CONTROLS)) || !isInWindow(node)) continue;
            const field = around(node, FIELDS) ?? node;
            if (isTerm) terms.push(node.textContent);
            else if (!node.disabled && !seen.has(field) && !around(node, LEFT_OUT)) {
                seen.add(field);
                controls.push(node.ariaLabel || node.textContent || node.localName);
            }
        }
    };
    walk(document);
    return [controls, terms];
}"""


def controls(page: Page) -> tuple[list[str], list[str]]:
    """Return the names of what can be pressed in the first window, and of words with a card.

    Words of the text, squares of heads, cells of tables and tools of charts are left out.
    """
    found, terms = page.evaluate(COUNT, [CONTROLS, LEFT_OUT, FIELDS])
    return found, terms


PAGES = (
    "", "decode", "compare", "sweep", "heads", "positions", "training", "inspect", "lessons",
    "gallery", "stories", "masks", "why_attention",
)  # fmt: skip
"""Their addresses; the first one is that of Explore."""


def main() -> None:
    """Print a line for each page: its controls and terms on a desktop and on a phone."""
    with serve() as address, sync_playwright() as playwright:
        browser = launch(playwright)
        print("page            desktop  first visit  phone  first visit   (controls + terms)")
        for path in PAGES:
            counts = []
            for size, script in product((DESKTOP, PHONE), (SEES_ALL, FIRST_VISIT)):
                page = browser.new_context(viewport=size).new_page()
                page.add_init_script(script)
                page.goto(f"{address}/{path}")
                at_rest(page)
                found, terms = controls(page)
                counts.append(f"{len(found):3d} + {len(terms):2d}")
                page.close()
            print(f"{path or 'explore':15s} {'    '.join(counts)}")
        browser.close()


if __name__ == "__main__":
    main()
