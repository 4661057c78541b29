#!/bin/sh
# Find a browser for the tests: Debian's headless one, whose pages take less of the processor, else any
# on PATH, else Playwright's own. Without one the browser tests are skipped, and pytest says so.
found() {
    for name in "$@"; do
        if command -v "$name"; then return 0; fi
    done
    return 1
}
found chromium-headless-shell && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's chromium-headless-shell."
    timeout 120 apt-get update -qq
    timeout 300 apt-get install -y -qq --no-install-recommends \
        chromium-headless-shell fonts-dejavu-core >/dev/null && exit 0
fi
found chromium chromium-browser google-chrome google-chrome-stable && exit 0
echo "No browser on PATH and none from apt-get: trying Playwright's own."
.venv/bin/python -m playwright install chromium && exit 0
echo "NO BROWSER FOUND: the browser tests will be skipped."
exit 0
