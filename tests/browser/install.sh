#!/bin/sh
# Find a browser for the tests: on PATH, else Debian's, else Playwright's own.
# Without one the browser tests are skipped, and pytest's summary says so.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name"; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "No browser on PATH: installing Debian's chromium."
    apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null &&
        exit 0
fi
echo "No browser on PATH and none from apt-get: trying Playwright's own."
.venv/bin/python -m playwright install chromium && exit 0
echo "NO BROWSER FOUND: the browser tests will be skipped."
exit 0
