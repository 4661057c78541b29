"""Chat templates: what a model reads is what the library makes of a conversation, safely."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.chat_templates import NO_SYSTEM, TEMPLATES
from tests.transformer.hugging_face.saving import save, writer
from transformer import InputError, chatting, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.hugging_face.chat.chatting import remarks, spell, text_read, turn_of
from transformer.hugging_face.chat.render_process import MOST_CHARACTERS, render
from transformer.hugging_face.chat.rendering import rendered
from transformer.inputs import MAX_CHARACTERS, source_ids
from transformer.tokenizer import TokenizerError

SAID = ("the cat", "  the </s> cat\n<s> ", "{{ 7 * 7 }} {% raise %}", "ü ‘猫’ 🙂", "[/INST] system")
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def folder_with(
    tmp_path: Path, template: Any, family: str = "Llama", adds_bos: bool = False
) -> Path:
    """A model with templates in tokenizer_config.json; adds_bos: its tokenizer adds <s>."""
    from tokenizers import processors

    folder = save(writer(family, 1), tmp_path)
    if adds_bos:
        from transformers import AutoTokenizer

        theirs = AutoTokenizer.from_pretrained(folder)
        theirs.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 1)]
        )
        theirs.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"chat_template": template}))
    return folder


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_text_is_that_of_the_library(name: str) -> None:
    from transformers import PreTrainedTokenizerBase

    theirs: Any = PreTrainedTokenizerBase(chat_template=TEMPLATES[name], **TOKENS)
    for said in SAID:
        user = [{"role": "user", "content": said}]
        for messages in (user, [{"role": "system", "content": "the dog\nsat"}, *user]):
            values = {"messages": messages, "tools": None, "documents": None, **TOKENS}
            ours = render(TEMPLATES[name], values | {"add_generation_prompt": True})
            if len(messages) == 2 and name in NO_SYSTEM:
                assert ours == {"error": "System role not supported"}
                continue
            told = {"tokenize": False, "add_generation_prompt": True}
            assert ours["text"] == theirs.apply_chat_template(messages, **told)


@pytest.mark.parametrize("adds_bos", [False, True])
@pytest.mark.parametrize("name", ["ChatML", "Llama 2", "Zephyr"])
def test_the_ids_are_those_of_the_library(name: str, adds_bos: bool, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = folder_with(tmp_path, TEMPLATES[name], adds_bos=adds_bos)
    theirs = AutoTokenizer.from_pretrained(folder)
    checkpoint = chatting(load_checkpoint(folder, "cpu"), system="the dog")
    messages = [{"role": "system", "content": "the dog"}, {"role": "user", "content": "the cat"}]
    right = theirs.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    assert source_ids(checkpoint, "the cat") == right
    decoding = decode(checkpoint, "the cat", max_len=4)
    assert [token.id for token in decoding.source] == right
    recording = record(checkpoint, "the cat", decoding.target)
    assert [token.id for token in recording.source] == right
    assert remarks(checkpoint, "the cat") == ()


def test_templates_by_their_names_wherever_a_folder_has_them(tmp_path: Path) -> None:
    several = [
        {"name": "default", "template": "the {{ messages[0].content }}"},
        {"name": "tool_use", "template": "dog {{ messages[0].content }}"},
    ]
    folder = folder_with(tmp_path, several)
    checkpoint = load_checkpoint(folder, "cpu")
    assert checkpoint.config.templates == ("default", "tool_use")  # type: ignore[attr-defined]
    assert text_read(chatting(checkpoint, "tool_use"), "cat") == "dog cat"
    assert text_read(checkpoint, "cat") == "cat"  # the same as before
    (folder / "chat_template.jinja").write_text("ran {{ messages[0].content }}")
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates/rag.jinja").write_text("sat {{ messages[0].content }}")
    checkpoint = load_checkpoint(folder, "cpu")
    assert checkpoint.config.templates == ("default", "rag")  # type: ignore[attr-defined]
    for name, text in (("default", "ran cat"), ("rag", "sat cat")):
        assert text_read(chatting(checkpoint, name), "cat") == text
    with pytest.raises(InputError, match="has no template 'tool_use', but default, rag"):
        chatting(checkpoint, "tool_use")


@pytest.mark.parametrize("template", [None, "", "  ", 7, [], {"a": 1}])
def test_a_folder_without_one_offers_none(template: Any, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(folder_with(tmp_path, template), "cpu")
    with pytest.raises(InputError, match="has no chat template"):
        chatting(checkpoint)


@pytest.mark.parametrize(
    "damaged", [{"name": "rag"}, {"template": "no name"}, {"name": "rag", "template": 7}, 7, None]
)
def test_a_damaged_template_is_named_and_the_others_open(damaged: Any, tmp_path: Path) -> None:
    sound = {"name": "tool_use", "template": "dog {{ messages[0].content }}"}
    checkpoint = load_checkpoint(folder_with(tmp_path, [damaged, sound]), "cpu")
    assert checkpoint.config.templates == ("tool_use",)  # type: ignore[attr-defined]
    assert text_read(chatting(checkpoint, "tool_use"), "cat") == "dog cat"
    (note,) = (note for note in checkpoint.about.notes if "template" in note)
    assert ("rag" if isinstance(damaged, dict) and "name" in damaged else "no") in note


def test_only_models_that_go_on_have_conversations(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, TEMPLATES["ChatML"], "BART")
    with pytest.raises(InputError, match="has no chat template"):
        chatting(load_checkpoint(folder, "cpu"))


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ raise_exception('the roles must\nalternate') }}", "gives no text: the roles must alt"),
        ("a\n{% for x in messages %}", "line 2: Unexpected end of template"),
        ("{{ absent.name }}", "'absent' is undefined"),
        ("{% for x in range(9**5) %}{% for y in range(9**5) %}{% endfor %}{% endfor %}", "stopped"),
        ("{{ 'x' * 10**9 }}", "more memory than"),
        ("{{ 'x' * 9999999 }}", "more than 20,000 characters"),
        ("{{ messages.__class__.__mro__ }}", "closed to templates"),
        ("{{ cycler.__init__.__globals__ }}", "closed to templates"),
        ("{{ messages.append(1) }}", "closed to templates"),
        ("{{ '{0.__class__}'.format(1) }}{{ raise_exception('empty') }}", "empty"),
        ("{% set ns = namespace(_a=1) %}", "closed to templates"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
        ("{% include '/etc/passwd' %}", "gives no text"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("x" * (2**20 + 1), "more than 1,048,576 characters"),
    ],
)
def test_a_hostile_template_ends_in_a_sentence(template: str, why: str) -> None:
    with pytest.raises(TokenizerError, match=why) as error:
        rendered(template, "the cat", "", TOKENS)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_it_reads_no_variable_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert rendered("{{ bos_token }}{{ messages[0].content }}", "\ud800", "", TOKENS) == "<s>\ud800"


def test_a_text_may_become_as_long_as_any_that_is_read() -> None:
    assert MOST_CHARACTERS == MAX_CHARACTERS


@pytest.mark.parametrize(
    ("text", "ids", "n_remarks"),
    [
        ("the cat", [1, 4, 5], 0),
        ("<s> the cat", [1, 4, 5], 1),
        ("<s><s> the cat", [1, 1, 4, 5], 1),
        ("the <s> cat", [1, 4, 1, 5], 0),
        ("the cat </s>", [1, 4, 5, 2], 0),
    ],
)
def test_a_token_that_is_typed_and_added_is_read_once(
    text: str, ids: list[int], n_remarks: int, tmp_path: Path
) -> None:
    checkpoint = load_checkpoint(folder_with(tmp_path, None, adds_bos=True), "cpu")
    assert source_ids(checkpoint, text) == ids
    assert len(remarks(checkpoint, text)) == n_remarks


def test_a_tokenizer_that_adds_nothing_reads_what_is_typed(tmp_path: Path) -> None:
    checkpoint = load_checkpoint(folder_with(tmp_path, None), "cpu")
    assert source_ids(checkpoint, "<s><s> the") == [1, 1, 4]
    assert remarks(checkpoint, "<s><s> the") == ()


def test_both_ends_of_an_encoder(tmp_path: Path) -> None:
    from tokenizers import processors
    from transformers import AutoTokenizer

    folder = save(writer("BART", 1), tmp_path)
    theirs = AutoTokenizer.from_pretrained(folder)
    theirs.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    theirs.save_pretrained(folder)
    checkpoint = load_checkpoint(folder, "cpu")
    for text in ("the cat", "<s> the cat", "the cat </s>", "<s> the cat </s>"):
        assert source_ids(checkpoint, text) == [1, 4, 5, 2]
        assert len(remarks(checkpoint, text)) == text.count("s>")
    assert record(checkpoint, "the cat", "the dog </s>").target[-2].piece == "dog"


def test_a_template_that_writes_the_start_twice_is_noted(tmp_path: Path) -> None:
    template = "{{ bos_token }}{{ bos_token }}{{ messages[0].content }}"
    checkpoint = chatting(load_checkpoint(folder_with(tmp_path, template), "cpu"))
    assert source_ids(checkpoint, "the") == [1, 1, 4]
    assert "twice" in remarks(checkpoint, "the")[0]


def test_from_a_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(folder_with(tmp_path, "{{ bos_token }}the {{ messages[-1].content }}\n!"))
    usual = ["decode", folder, "cat", "--option", "max_len=2", "--json"]
    assert main([*usual, "--template", "default"]) == 0
    output, told = capsys.readouterr()
    assert json.loads(output)["read"] == "<s>the cat\n!" and "<s>the cat\n!" in told
    assert main(usual) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"text", "target", "hypotheses"}
    wholly = "{% for each in messages %}{{ each.role[0] }} {{ each.content }} {% endfor %}"
    folder = str(folder_with(tmp_path / "b", wholly))
    turns = ["--turn", "user:the", "--turn", "assistant: a: b", "--template", "default"]
    assert main(["decode", folder, "cat", "--option", "max_len=2", "--json", *turns]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == "u the a a: b u cat "
    usual[1] = folder
    wrong_turn = ("--template", "default", "--turn", "the dog")
    for wrong in (("--template", "other"), ("--system", "the"), ("--turn", "user:a"), wrong_turn):
        assert main([*usual, *wrong]) == 1
        assert ("turn" if wrong is wrong_turn else "template") in capsys.readouterr().err


TURNS = (("user", "the cat"), ("assistant", " sat: </s>\nran "), ("user", "the dog"))
MESSAGES = [{"role": role, "content": text} for role, text in TURNS]


@pytest.mark.parametrize("name", ["ChatML", "Llama 2", "Llama 3", "Zephyr"])
def test_a_conversation_is_read_as_the_library_reads_it(name: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = folder_with(tmp_path, TEMPLATES[name])
    theirs = AutoTokenizer.from_pretrained(folder)
    checkpoint = chatting(load_checkpoint(folder, "cpu"), system="ran", messages=MESSAGES[:2])
    messages = [{"role": "system", "content": "ran"}, *MESSAGES]
    right = theirs.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    assert source_ids(checkpoint, "the dog") == right


@pytest.mark.parametrize(
    "message",
    [{"role": "nobody", "content": "a"}, {"role": "user"}, {"role": "user", "content": 7}, "hi", 7],
)
def test_a_message_that_is_none_ends_in_a_sentence(message: Any, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(folder_with(tmp_path, TEMPLATES["ChatML"]), "cpu")
    with pytest.raises(InputError, match="message"):
        chatting(checkpoint, messages=[message])
    with pytest.raises(InputError, match="message"):
        chatting(checkpoint, messages=MESSAGES[0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="turns"):
        chatting(checkpoint, messages=MESSAGES * 40)


@pytest.mark.parametrize("turn", [*TURNS, ("system", ""), ("user", "user: a"), ("user", "  ")])
def test_a_turn_is_spelled_and_read_again(turn: tuple[str, str]) -> None:
    assert turn_of(spell(turn)) == turn
