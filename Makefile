# Everything runs in .venv, which each target sets up for itself.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= data
RECIPE ?= en-de
# Of the app: what it opens, and where it listens; 0.0.0.0 lets others in.
CHECKPOINT ?=
# A torch module of your own, as script.py:build, where build() returns from_module(...).
MODULE ?=
# A figure that the app saved: the screen that it was made of.
OPEN ?=
# Where the page that needs no server is written: a folder, or a file that ends in .html.
OUT ?= build/site
ADDRESS ?= localhost

.PHONY: run test test-all test-oldest lint bench train surveys screenshots docs site check-site fonts link-picture venv

run: .venv/ready
ifneq ($(MODULE),)
	$(BIN)/python -m viz explore "$(MODULE)" --address $(ADDRESS)
else ifneq ($(OPEN),)
	$(BIN)/python -m viz open "$(OPEN)" --address $(ADDRESS)
else
	HEADSCOPE_CHECKPOINT="$(CHECKPOINT)" $(BIN)/streamlit run app.py --server.address $(ADDRESS)
endif

# Each mechanism once: what is pushed. test-all runs the whole product of cases, too: each night.
test: .venv/ready-for-tests
	sh tests/browser/install.sh
	$(BIN)/python -m tests.suite

test-all: .venv/ready-for-tests
	sh tests/browser/install.sh
	$(BIN)/python -m tests.suite --all

# What is run on the lowest versions that pyproject.toml lets in.
OLDEST ?= tests/transformer/watch tests/transformer/recording \
	tests/transformer/layers tests/transformer/models tests/transformer/positions \
	tests/transformer/edits tests/transformer/decoding tests/transformer/engines \
	tests/transformer/test_device.py tests/transformer/test_tokenizer.py \
	tests/transformer/corpus tests/viz/figures tests/viz/notebook tests/viz/paper tests/viz/ui

# The lowest versions that pyproject.toml lets in, in an environment of their own.
test-oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m pytest -n 2 --dist loadfile -m "not thorough" $(OLDEST) \
		--deselect 'tests/transformer/watch/test_hugging_face.py::test_more_families_are_recorded_or_named[DiffLlama]'

lint: .venv/ready-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxlint --deny-warnings viz tests

bench: .venv/ready-for-tests
	sh tests/browser/install.sh
	sh tests/bench/install.sh
	$(BIN)/python -m tests.bench

# What is kept beside each shipped checkpoint is of its weights: new weights need a new one.
# TREES: a .conllu file of Universal Dependencies, such as en_ewt-ud-dev.conllu.
surveys: .venv/ready
	for each in checkpoints/*/; do \
		$(BIN)/python -m transformer ship-survey $$each $(if $(TREES),--trees "$(TREES)"); done

train: .venv/ready
	$(BIN)/python -m transformer train $(RECIPE) --data $(DATA)

screenshots: .venv/ready-for-tests
	sh tests/browser/install.sh
	$(BIN)/python -m tests.browser.screenshots
	$(BIN)/python -m tests.browser.film

# Pages that need no server: the models answer in the reader's browser; stories and lessons beside
# them. python -m http.server --directory build/site shows it here; any host of static files takes
# the folder as it is.
site: .venv/ready
	$(BIN)/python -m viz site $(OUT) $(if $(CHECKPOINT),--checkpoint "$(CHECKPOINT)")

check-site: .venv/ready-for-tests
	sh tests/browser/install.sh
	$(BIN)/python -m pytest tests/viz/live tests/browser/test_live.py tests/browser/test_site.py

# A site of README, docs and changes in build/docs, which needs no network.
docs: .venv/ready-for-docs
	$(BIN)/python .ci/build_docs.py

# Small copies of Streamlit's typefaces in viz/server/typefaces: where its version changes, or
# where texts of ours have new signs or icons.
fonts: .venv/ready-for-docs
	$(BIN)/python .ci/subset_fonts.py

# The picture of a link that has no other, viz/server/link_picture.png.
link-picture: .venv/ready
	$(BIN)/python .ci/draw_link_picture.py

venv: .venv/ready

.venv/ready: requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/ready-for-tests: .venv/ready tests/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

.venv-oldest/ready: tests/oldest.txt tests/requirements.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		-r tests/oldest.txt -r tests/requirements.txt
	touch $@

.venv/ready-for-docs: .venv/ready docs/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	touch $@
