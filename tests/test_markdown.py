"""Nothing typed or loaded meets Markdown unless `literal` has escaped it.

What Streamlit renders as Markdown is found in the code: the texts of its elements, labels, helps,
and names of options. Each must be put together from texts of our own, numbers and what `literal`
gives; the few that this does not see through stand in `KNOWN`, with the reason.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.test_architecture import MODULES

RENDER = {
    *("markdown", "caption", "warning", "error", "info", "success", "toast", "subheader"),
    *("badge", "spinner", "button", "checkbox", "toggle", "radio", "selectbox", "multiselect"),
    *("segmented_control", "pills", "text_input", "text_area", "number_input", "slider"),
    *("select_slider", "file_uploader", "metric", "expander", "popover", "download_button"),
    *("link_button", "menu_button", "page_link", "status", "tabs", "table", "html"),
}
"""Methods of Streamlit's whose first argument is Markdown, or HTML."""
OF_STREAMLIT_ALONE = {"title", "header", "write"}
"""The same where they are called on `st`: other things of ours have such methods too."""
NAMED = {"help", "format_func", "captions", "placeholder"}
ESCAPES = {"literal"}
NUMBERS = {"len", "sum", "min", "max", "int", "float", "round", "range"}
NUMBERS |= {"number", "signed", "percent", "counted"}  # of viz/labels.py
A_NUMBER = re.compile(r"\+?,?[\d.]*[fdeg%]|,")
"""How a number is written; a text in its place raises."""

KNOWN = {
    # HTML of our own, whose texts are escaped where it is made:
    "_room_for_outputs(pane.answer, HELP[screen.tool])": "words are escaped",
    "_room_for_outputs(pane.answer, '')": "as above",
    "words_body(content)": "as above",
    "_tools(link(put(pane.screen, pins=())))": "an address, escaped",
    "(_STYLE if is_plain(screen) else _NOT_HERE) + _BUTTON": "constants of viz/ui/first_visit.py",
    "words_body(room, 'text-room')": "as above",
    "_read_out(content, outcome_of)": "as above",
    "_remark(text, is_read_out)": "as above",
    "bars_body(chart, _theme(), says)": "as above",
    "cards(story, [None] * len(story.scenes))": "viz/figures escapes all texts",
    "cards(story, pictures(story, current_theme().name))": "as above",
    "split_text([tokenizer.token(id) for id in ids])": "figure_label escapes",
    "table_body(content, _theme())": "viz/painters escapes all texts",
    "markup(screen)": "as above, beside an address that is escaped",
    "f'{what}  \\n{most}'": "pieces, classes and kinds by literal, the rest are numbers",
    "f'<a data-state href=\"{address}\">Open on Explore</a>'": "escaped",
    'f\'<a data-state style="{look}" href="{address}">{html.escape(text)}</a>\'': "escaped",
    "f'<a data-state data-present href=\"{there}\">{PRESENT}</a>'": "escaped",
    "_PRESENT_STYLE + _keys_of(page)": "words of our own, and addresses, escaped",
    "f'<a data-state href=\"{address}\">Compare base and adapted</a>'": "escaped",
    "samples_body(cost_samples())": "as above",
    "chart_image(chart, current_theme(), says, share_here())": "an image, and its words escaped",
    "escaped_html": "viz/stories/markdown.py escapes all texts",
    "below": "as above, in viz/talks/story.py",
    "anchor(Screen('stories', draft=code), words)": "a link, escaped",
    "anchor(scene.screen, 'Open')": "a link, escaped",
    "anchor(story.screen_of(1), 'Read it')": "as above",
    "anchor(stage, 'Give it as a talk')": "as above",
    "contents(story)": "links, escaped",
    "_list(story, at)": "as above",
    "_whole_screen(why)": "escaped",
    "f'{literal(title_added)} [Stories]({at}) has all.'": "an address",
    "f'Heading of scene {i + 1}'": "a number",
    "f'{title} of scene {i + 1}'": "texts of our own and a number",
    "_variables(theme) + _CSS + _RING + looks + _named(page, pages)": "style sheets of ours",
    'f\'<a data-state style="{style}" href="{html.escape(link(screen))}">{title}</a>\'': "escaped",
    "''.join(entries)": "a legend's own words",
    "scene.text": "the Markdown of a shipped lesson",
    "riddle.solution": "as above",
    "lesson.introduction": "as above",
    "lesson.learned": "as above",
    "cards(lessons, session().screen, done)": "escaped",
    "_compare_links(pane)": "escaped",
    "_links('All lessons', _way_back(), *_ways_to_pages(lesson))": "escaped",
    "_links('Further lessons', *_ways_on(lesson))": "as above",
    "_links(scene.heading, (words, link(opened)))": "as above",
    "_links(scene.heading, (ON_EXPLORE, link(opened)))": "as above",
    "f'<h1 data-scene=\"{number:d}\">{escaped(scene.heading)}</h1>'": "escaped",
    "f'<p><a data-state href=\"{_first(story)}\">Give a talk: {text}</a></p>'": "escaped",
    "_STYLES[screen.role]": "a style sheet",
    "' '.join(words_here)": "a page's own words, and by literal what its model does",
    # Declared in our code: by a view, a lens, a metric, a decoding method, a page or a control.
    "view.explain": "a view's",
    "rows.button": "a page's own words",
    "rows.help": "as above",
    "self.label": "as above",
    "text": "as above: what stands below a part",
    "f'- **{each.title}**: {each.cited}'": "a metric's",
    "method.title": "a decoding method's",
    "explained(word_of(method.with_options(options)))": "a decoding method's, and its options'",
    "lens.cited": "a lens's",
    "option.title": "a decoding method's",
    "option.explain": "a decoding method's",
    "control.title": "a view's",
    "remarks(measured, sizes, n)": "numbers, and texts of layers",
    # Tables whose cells are escaped, or numbers:
    "pd.DataFrame(columns).fillna(NOT_APPLYING)": "headings by literal, cells by metric_texts",
    "escaped_link": "HTML of link_there in viz/ui/hand_over.py, which escapes what it is given",
    "f'{explain}. {AS_TEXT}' if file.endswith('.csv') else explain": "a caller's own words",
    "f'The reader of scene {i + 1} can type'": "a number",
    "frame(values, numbers)": "numbers",
    "_sum(chosen)": "numbers",
    # Shown as it stands, not rendered:
    "visible": "lists that open show plain text",
}


def rendered(node: ast.AST) -> Iterator[ast.expr]:
    """What Streamlit renders of what a node gives it."""
    if isinstance(node, ast.Call):
        yield from (each.value for each in node.keywords if each.arg in NAMED)
        if isinstance(node.func, ast.Attribute) and node.args:
            is_st = ast.unparse(node.func.value) == "st"
            if node.func.attr in RENDER or (is_st and node.func.attr in OF_STREAMLIT_ALONE):
                yield node.args[0]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from (v for k, v in pairs if isinstance(k, ast.Constant) and k.value in NAMED)
    elif isinstance(node, ast.Assign):
        keys = [each.slice for each in node.targets if isinstance(each, ast.Subscript)]
        if any(isinstance(key, ast.Constant) and key.value in NAMED for key in keys):
            yield node.value


class Scope:
    """What names stand for in a function, its module, and the modules that this imports from."""

    def __init__(self, module: str, function: ast.AST | None = None) -> None:
        self.module, self.function = module, function

    def values(self, name: str) -> tuple["Scope", list[ast.AST]]:
        """All that is assigned to a name, and where; nothing where it is not known."""
        if self.function is not None and (found := _assigned(self.function, name)):
            return self, found
        top = _tree(self.module)
        if found := _assigned(top, name):
            return Scope(self.module), found
        for node in ast.walk(top):
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return Scope(node.module).values(alias.name)
        return self, []


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def _own(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module or function, without those of functions within."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _own(node)


def _assigned(tree: ast.AST, name: str) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in _own(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == name and node.value is not None:
                    found.append(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=False)
                    found += [v for t, v in pairs if ast.unparse(t) == name]
        elif isinstance(node, ast.FunctionDef) and node.name == name:
            found.append(node)
    return found


def is_safe(node: ast.AST, scope: Scope, depth: int = 14) -> bool:
    """Whether it is put together from our own texts, numbers and escaped texts alone."""
    if depth == 0:
        return False

    def safe(other: ast.AST) -> bool:
        return is_safe(other, scope, depth - 1)

    if ast.unparse(node) in KNOWN or isinstance(node, ast.Constant):
        return True
    match node:
        case ast.JoinedStr():
            return all(map(safe, node.values))
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=spec)])):
            return bool(A_NUMBER.fullmatch(str(spec))) or safe(node.value)
        case ast.FormattedValue():
            return safe(node.value)
        case ast.BinOp(op=ast.Mult()):
            return safe(node.left)
        case ast.BinOp():
            return safe(node.left) and safe(node.right)
        case ast.BoolOp() | ast.List() | ast.Tuple() | ast.Dict():
            inside = node.elts if isinstance(node, ast.List | ast.Tuple) else node.values
            return all(map(safe, inside))
        case ast.Starred():
            return safe(node.value)
        case ast.IfExp():
            return safe(node.body) and safe(node.orelse)
        case ast.Lambda():
            return safe(node.body)
        case ast.GeneratorExp() | ast.ListComp():
            return safe(node.elt)
        case ast.Subscript():
            return safe(node.value)
        case ast.Name() if node.id in ESCAPES:
            return True
        case ast.Name():
            where, values = scope.values(node.id)
            function = scope.function if isinstance(scope.function, ast.FunctionDef) else None
            is_given = function is not None and node.id in _parameters(function)
            if function is not None and (not values or (is_given and where is not scope)):
                given = list(passed(scope.module, function, node.id))
                return bool(given) and all(is_safe(*each, depth - 1) for each in given)
            return bool(values) and all(is_safe(each, where, depth - 1) for each in values)
        case ast.Attribute(attr="__getitem__"):
            return safe(node.value)
        case ast.Call(func=ast.Name(id=name)):
            return name in ESCAPES | NUMBERS or _gives(name, scope, depth)
        case ast.Call(func=ast.Attribute(attr="join"), args=[inside]):
            return safe(node.func.value) and safe(inside)
        case ast.Call(func=ast.Attribute(attr="capitalize" | "lower" | "format" | "replace")):
            inside = [*node.args, *(each.value for each in node.keywords)]
            return safe(node.func.value) and all(map(safe, inside))
        case ast.Call(func=ast.Attribute(attr="get")):
            return safe(node.func.value) and all(map(safe, node.args[1:]))
        case ast.FunctionDef():
            inner = Scope(scope.module, node)
            given = [each.value for each in _own(node) if isinstance(each, ast.Return)]
            return bool(given) and all(
                each is not None and is_safe(each, inner, depth - 1) for each in given
            )
    return False


def passed(module: str, function: ast.FunctionDef, name: str) -> Iterator[tuple[ast.AST, Scope]]:
    """What is given for a parameter, wherever a function of this name is called."""
    positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    named = [*positional, *(each.arg for each in function.args.kwonlyargs)]
    if name not in named:
        return
    defaults = [*function.args.defaults, *function.args.kw_defaults]
    usual = dict(zip(reversed(named), reversed(defaults), strict=False)).get(name)
    if usual is not None:
        yield usual, Scope(module)
    for caller in [module] if function.name.startswith("_") else USING:
        tree = _tree(caller)
        for within in (tree, *_functions(tree)):
            for call in _own(within):
                if isinstance(call, ast.Call) and _is_call_of(call, function.name):
                    given = dict(zip(positional, call.args, strict=False))
                    given |= {each.arg: each.value for each in call.keywords if each.arg}
                    if name in given:
                        yield given[name], Scope(caller, within)


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def _is_call_of(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _gives(name: str, scope: Scope, depth: int) -> bool:
    """Whether a function of ours gives only what is safe; `help_of` reads `viz/words.py`."""
    if name in ("help_of", "visible"):
        return True
    where, found = scope.values(name)
    functions = [each for each in found if isinstance(each, ast.FunctionDef)]
    return bool(functions) and all(is_safe(each, where, depth - 1) for each in functions)


def unsafe(module: str) -> list[str]:
    """What is rendered and may hold something typed or loaded, after its line."""
    tree = _tree(module)
    return [
        f"{sink.lineno}: {ast.unparse(sink)}"
        for function in (tree, *_functions(tree))
        for node in _own(function)
        for sink in rendered(node)
        if not is_safe(sink, Scope(module, function))
    ]


USING = [
    name
    for name, file in MODULES.items()
    if re.search("import streamlit|app_packages import", file.read_text())
]


@pytest.mark.parametrize("module", USING)
def test_nothing_is_rendered_that_is_not_escaped(module: str) -> None:
    assert unsafe(module) == []


@pytest.mark.parametrize(
    ("code", "is_right"),
    [
        ("st.markdown(name)", False),
        ("st.markdown(literal(name))", True),
        ("st.markdown(f'**{literal(name)}**, {len(name)} letters, {name:,} {name:.2f}')", True),
        ("st.caption(f'{name}')", False),
        ("st.caption(f'{name:>10}')", False),
        ("st.info('a ' + name)", False),
        ("st.metric('a', 1, help=name)", False),
        ("st.pills('a', names, format_func=lambda each: each)", False),
        ("look = {}; look['help'] = name", False),
        ("look = {'format_func': literal}", True),
        ("box.tabs([literal(name), 'b'])", True),
        ("box.tabs([name, 'b'])", False),
        ("said = 'a'; st.write(said)", True),
        ("said = 'a'; said += name; st.write(said)", False),
        ("st.table(frame)", False),
        ("page.title(name)", True),
    ],
)
def test_what_is_found(code: str, is_right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse(f"def draw(name, names, frame):\n    {code}")
    monkeypatch.setattr(f"{__name__}._tree", lambda _: tree)
    assert (unsafe("viz.labels") == []) == is_right


def test_what_is_known_is_there() -> None:
    """An entry that nothing needs any more would hide the next one of its name."""
    needed = "".join(ast.unparse(_tree(name)) for name in USING)
    assert [each for each in KNOWN if each not in needed] == []
