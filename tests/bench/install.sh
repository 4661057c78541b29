#!/bin/sh
# BertViz, and the three scripts that its pages would fetch from a CDN, for the bench beside it.
# Without them the bench shows our own figures and says that BertViz is left out.
scripts=build/bertviz
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/bench/requirements.txt ||
    { echo "BertViz cannot be installed: the bench leaves it out."; exit 0; }
command -v npm >/dev/null || { echo "No npm: the bench leaves BertViz out."; exit 0; }
mkdir -p "$scripts"
for package in requirejs-2.3.6 d3-5.7.0 jquery-2.2.4; do
    if [ -e "$scripts/$package.tgz" ]; then continue; fi
    npm pack --silent --pack-destination "$scripts" "${package%-*}@${package##*-}" >/dev/null ||
        echo "$package cannot be had: the bench leaves BertViz out."
done
exit 0
