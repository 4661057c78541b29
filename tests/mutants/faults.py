"""The faults: a slip of the pen each, at one place of one file, which changes what a user gets."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """A text of a file that stands there once, and what is written in its place."""

    name: str
    file: str
    old: str
    new: str
    why: str
    """The slip, and what it changes for a user."""
    narrow: bool = False
    """True: only one or a few cases of a large parametrized family come here."""

    def put_in(self, tree: Path) -> None:
        """Write it into a copy of the tree. Raises ValueError where its text is not there once."""
        file = tree / self.file
        text = file.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} has its text {text.count(self.old)} times.")
        file.write_text(text.replace(self.old, self.new), encoding="utf-8")


FAULTS = (
    Fault(
        "scalar-norm-deviation",
        "transformer/layers/norm.py",
        "super().__init__(1, eps, correction=0)",
        "super().__init__(1, eps)",
        "The norm with one gain divides by the unbiased deviation, as the other one does.",
        narrow=True,
    ),
    Fault(
        "joey-norms",
        "transformer/formats/mappings/translators.py",
        f'"x_layer_norm": "self_residual.norm",\n{12 * " "}"dec_layer_norm": "cross_residual.norm"',
        f'"x_layer_norm": "cross_residual.norm",\n{12 * " "}"dec_layer_norm": "self_residual.norm"',
        "Two norms of a decoder's layer in the order of their names.",
        narrow=True,
    ),
    Fault(
        "open-nmt-scale",
        "transformer/formats/mappings/translators.py",
        "scaled_embeddings=has_positions",
        "scaled_embeddings=True",
        "Embeddings are scaled where a model has no encodings, too.",
        narrow=True,
    ),
    Fault(
        "lines-of-vocabulary",
        "transformer/formats/vocabulary_files.py",
        'text.removesuffix("\\n").split("\\n")',
        "text.splitlines()",
        "A piece with another line's end than \\n is two, and the ids behind it are one too large.",
        narrow=True,
    ),
    Fault(
        "begun-by-starts",
        "transformer/hugging_face/writing/settings.py",
        "n_begun = 1 if starts else source.size(1)",
        "n_begun = n_before",
        "A forced first token no longer counts as written: min_new_tokens asks for one more.",
        narrow=True,
    ),
    Fault(
        "dora-lengths",
        "transformer/hugging_face/adapters/lora.py",
        "rows = with_lengths(rows, lengths)",
        "rows = with_lengths(rows, lengths * scale)",
        "DoRA's rows are scaled by alpha / r once more.",
        narrow=True,
    ),
    Fault(
        "last-token-of-all",
        "transformer/recording/vector.py",
        "return some[-1]",
        "return states[-1]",
        "A text's vector by its last token is that of a token which is hidden.",
        narrow=True,
    ),
    Fault(
        "rotary-of-last-layer",
        "transformer/watch/kinds/schemes.py",
        "tuple(layer.number for layer in group)",
        "(group[-1].number,)",
        "Where several layers turn alike, that is said of the last one only.",
        narrow=True,
    ),
    Fault(
        "rotary-by-name",
        "transformer/positions/turning.py",
        "own if times == 1 else own * times",
        "own",
        "Frequencies that a model holds are shown though positions are scaled.",
    ),
    Fault(
        "banks-from-behind",
        "transformer/decoding/frontier.py",
        "for n in sorted(banks, reverse=True):",
        "for n in sorted(banks):",
        "Of a beam with forced words, places that are left go to those that have written fewest.",
        narrow=True,
    ),
    Fault(
        "reference-from-its-start",
        "transformer/editing/editor.py",
        "reference = reference[first : first + len(z)]",
        "reference = reference[: len(z)]",
        "While it decodes, each step of an edited head is given the first row of the other run.",
        narrow=True,
    ),
    Fault(
        "pruning-own-pieces",
        "transformer/causes/pruning.py",
        "last.score.length - node.score.length",
        "last.score.length - before.score.length",
        "A word's own pieces count as written after it.",
    ),
    Fault(
        "rollout-to-own-layer",
        "transformer/analysis/lenses/lenses.py",
        "_product(encoder, encoder.n_layers - 1)",
        "_product(encoder, layer)",
        "Cross-attention's rollout takes the encoder up to the decoder's layer.",
        narrow=True,
    ),
    Fault(
        "read-by-written",
        "transformer/corpus/roles/roles.py",
        "anchors(sides, sides.queries)",
        "anchors(sides, sides.names)",
        "The role of the word that was read is measured by the word that is written.",
        narrow=True,
    ),
    Fault(
        "start-of-storage",
        "transformer/files/torch_file.py",
        "empty.set_(values, tensor.storage_offset(), tensor.shape, tensor.stride())",
        "empty.set_(values, 0, tensor.shape, tensor.stride())",
        "A tensor that was saved as part of another has the first values of that.",
    ),
    Fault(
        "spread-with-padding",
        "transformer/training/warm_start.py",
        "/ (states * weights).norm())",
        "/ states.norm())",
        "Padding counts in the whole, so that an encoder seems nearer to collapse than it is.",
    ),
    Fault(
        "composition-in-layer",
        "transformer/inspection/circuits.py",
        'w_layer < r_layer or (wrote == "decoder_self" and w_layer == r_layer)',
        "w_layer < r_layer",
        "A decoder's self-attention does not write what cross-attention of its layer reads.",
    ),
    Fault(
        "heads-unquoted",
        "viz/spelling.py",
        "f\"{quote(kind, safe='')}.{layer}.{head}\"",
        'f"{kind}.{layer}.{head}"',
        "A link loses heads of a kind whose name has a comma or a per cent sign.",
    ),
    Fault(
        "padding-of-rows",
        "viz/lessons/tasks/counts.py",
        "is_padding.expand(n, n).sum()",
        "is_padding.expand(len(subject.attention.keys), n).sum()",
        "Rows of padding are left out of the cells that the truth counts.",
        narrow=True,
    ),
    Fault(
        "masked-in-either",
        "viz/views/heads.py",
        "masked &= ~other.allowed",
        "masked |= ~other.allowed",
        "A difference is hidden where only one of both heads has a mask.",
        narrow=True,
    ),
    Fault(
        "rest-of-parts",
        "viz/painters/table_html.py",
        "html.escape(cell.text[end:])])",
        "cell.text[end:]])",
        "What follows the last part of a cell that stands out is HTML.",
    ),
    Fault(
        "used-is-not-newest",
        "viz/run/cache.py",
        "            self._things.move_to_end(name)\n",
        "",
        "What is used all the time leaves the cache first.",
    ),
    Fault(
        "many-charged-as-one",
        "viz/state/limits.py",
        "times.extend([now] * n)",
        "times.append(now)",
        "Work that reads many texts at once is charged as one, so that the limit does not hold.",
    ),
    Fault(
        "closed-at-the-root",
        "viz/server/guard.py",
        "if any(closed in path for closed in CLOSED):",
        "if path in CLOSED:",
        "Below a base path, and of files, a public server answers what only its operator may see.",
    ),
    Fault(
        "cells-of-other-kind",
        "viz/pages/heads/questions.py",
        'change(kind=kind, **({"heads_ask": ""} if pattern.cells else {}))',
        "change(kind=kind)",
        "Another kind of attention cannot be chosen where cells are drawn: they hold the old one.",
    ),
    Fault(
        "pins-of-other-side",
        "viz/components/head_map/values.js",
        "place < (isRow ? nRows : nColumns)",
        "place < (isRow ? nColumns : nRows)",
        "In a map that is not square, a pin beyond the shorter side is lost.",
    ),
    Fault(
        "branch-with-its-word",
        "viz/components/decode_player/branches.js",
        "ids.slice(0, step)",
        "ids.slice(0, step + 1)",
        "A branch goes on from a candidate and what was written in its place, too.",
    ),
    Fault(
        "live-word-after-bytes",
        "viz/live/payloads/words.js",
        "    if (decoder) added[added.length - 1] += decoder.decode(); // a character cut short\n",
        "",
        "A character that bytes cut short leaves no sign where the browser reads pieces.",
        narrow=True,
    ),
    Fault(
        "live-space-of-word",
        "viz/live/payloads/words.js",
        "      begins.set(i, 2);",
        "      begins.set(i, 1);",
        "In the browser's own rows a space before a word begins a word of its own.",
        narrow=True,
    ),
    Fault(
        "live-digits-of-candidates",
        "viz/live/payloads/decode_player.js",
        "rounded(share, 6)",
        "rounded(share, 5)",
        "Without a server, a candidate's probability loses its last digit.",
        narrow=True,
    ),
    Fault(
        "live-mean-of-rows",
        "viz/live/payloads/maps.js",
        "      values[at] /= group.length;\n",
        "",
        "In the browser the rows of a word's pieces are added, where Python has their mean.",
        narrow=True,
    ),
    Fault(
        "live-rows-without-choice",
        "viz/live/payloads/maps.js",
        "row * n, n) > 1);",
        "row * n, n) > 0);",
        "In the browser the strongest cell is the start token's, which can look at itself only.",
        narrow=True,
    ),
    Fault(
        "live-queries-with-key",
        "viz/live/payloads/metrics.js",
        "query + offset < nKeys;",
        "query + offset <= nKeys;",
        "In the browser the last query counts for the next token, which it has not.",
        narrow=True,
    ),
    Fault(
        "live-notes-of-head",
        "viz/live/payloads/heads.js",
        "    notes: [...header.notes, ...hidden],\n",
        "",
        "Beside one head large, the browser does not say what hidden tokens have of its weight.",
        narrow=True,
    ),
    Fault(
        "live-closed-cells",
        "viz/live/payloads/heads.js",
        "    if (!isOpen[at] && ",
        "    if (",
        "Without a server, open arrows between words count as masked.",
        narrow=True,
    ),
    Fault(
        "live-entropy-of-word",
        "viz/live/payloads/token_rows.js",
        "bits / full.entropy",
        "ranks.length / full.entropy",
        "The browser's tint by entropy is of the number of pieces.",
        narrow=True,
    ),
    Fault(
        "live-other-candidates",
        "viz/live/payloads/decode_player.js",
        "n_rest: nTokens - all.length,",
        "n_rest: nTokens,",
        "Without a server, the candidates are counted among all others, too.",
        narrow=True,
    ),
    Fault(
        "live-rank-of-leaves",
        "viz/live/payloads/search_tree.js",
        "best[parent] = Math.min(best[parent], best[place]);",
        "best[parent] = Math.max(best[parent], best[place]);",
        "In the browser's tree the best hypothesis is no straight line at the top.",
        narrow=True,
    ),
    Fault(
        "engine-query-of-row",
        "viz/live/engine/model.js",
        "const queryOf = (row) => seen[row].n_all - 1;",
        "const queryOf = (row) => pasts[0].length + row;",
        "In the browser all beams but the first read their words at later positions.",
        narrow=True,
    ),
    Fault(
        "engine-unbiased-norm",
        "viz/live/engine/model.js",
        "squares / d_model + norm_eps",
        "squares / (d_model - 1) + norm_eps",
        "The browser's norm divides by the unbiased deviation.",
    ),
    Fault(
        "engine-ends-beyond-beam",
        "viz/live/engine/decoding.js",
        "ranked.slice(0, size).filter(ends)",
        "ranked.filter(ends)",
        "In the browser a text may end that is not among the best of its step.",
    ),
    Fault(
        "engine-first-end-stops",
        "viz/live/engine/decoding.js",
        "if (finished.length < beam_size) return false;",
        "if (!finished.length) return false;",
        "The browser's beam stops as soon as one text has ended.",
    ),
    Fault(
        "engine-beaten-by-sum",
        "viz/live/engine/search_tree.js",
        "by === null ? null : scoreOf(entries[by]).total",
        "by === null ? null : scoreOf(entries[by]).logProb",
        "In the browser's tree the score that beat a token is not divided by its length.",
    ),
    Fault(
        "engine-hidden-but-read",
        "viz/live/engine/changes.js",
        'source: ["encoder_self", "cross"], text',
        'source: ["encoder_self"], text',
        "In the browser the decoder reads a word that is hidden.",
    ),
    Fault(
        "engine-mask-of-hidden",
        "viz/live/engine/changes.js",
        "(!isCausal || key <= query) && !hidden.has(key)",
        "!isCausal || key <= query",
        "In the browser the cells of a hidden word count as weights of 0, and not as closed.",
    ),
    Fault(
        "engine-bytes-in-order",
        "viz/live/engine/tokenizer.js",
        "bytes.reverse().map(",
        "bytes.map(",
        "In the browser a character of several bytes is read backwards.",
    ),
    Fault(
        "engine-spaces-kept",
        "viz/live/engine/tokenizer.js",
        'if (wasSpace) part = part.replace(/^ +/, "");',
        "",
        "In the browser doubled spaces are pieces.",
    ),
    Fault(
        "engine-replaced-late",
        "viz/live/engine/evidence.js",
        "const first = group[0] + 1; // where",
        "const first = group[0] + 2; // where",
        "In the browser what a word of several pieces holds up is measured without its first one.",
    ),
    Fault(
        "engine-lost-function-words",
        "viz/live/engine/lost.js",
        "content.has(i) && !closed.has(i)",
        "!closed.has(i)",
        "In the browser function words are said to be lost.",
    ),
    Fault(
        "engine-heads-not-added",
        "viz/live/engine/plain.js",
        "  floats.fill(0, y, y + size);\n",
        "",
        "A head with a cut arrow adds to what it gave before.",
    ),
)
