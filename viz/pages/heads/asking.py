"""A question about heads, in the words of a small grammar: who links “it” to “animal”?"""

from dataclasses import replace

from transformer.corpus.questions import GRAMMAR, ask
from viz.app_packages import st
from viz.fields.heads import HeadsFields
from viz.labels import literal
from viz.pages.heads.answers import NAME, Counted, growth_of
from viz.run.growth import Growth
from viz.run.request import answer
from viz.state.page import Pane
from viz.state.requests import first_example
from viz.state.state import bound
from viz.ui.progress import paid
from viz.ui.showing import show_growths

EXAMPLE = "who looks at the previous word?"


def ask_heads(pane: Pane) -> None:
    """Draw the question and the sentence, and the heads that answer it."""
    question = pane.screen.of(HeadsFields).heads_ask
    text, first = pane.request.text, first_example(pane.request.checkpoint)
    left, right = st.columns(2)
    with left:
        st.text_input("Question", question, placeholder=EXAMPLE, **bound("heads_ask", question))
    with right:
        st.text_input("Sentence", text, **bound("text", text, first))
    if not question.strip():
        st.caption(literal(f"You can ask: {GRAMMAR}."))
        return
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    if result is None:
        return
    show_growths(replace(pane, result=result), exhibits_of_question)


def exhibits_of_question(pane: Pane) -> dict[str, Growth[Counted]]:
    """The heads that do it on the sentence, with how often they do on others. Raises Refusal."""
    question = pane.screen.of(HeadsFields).heads_ask
    if not question.strip():
        return {}
    pane = replace(pane, result=answer(pane.request))
    return {NAME: growth_of(pane, ask(question))}
