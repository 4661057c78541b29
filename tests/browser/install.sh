#!/bin/sh
# Find browsers for the tests: Debian's headless Chromium, whose pages take less of the processor, else
# any on PATH, else Playwright's own; and Firefox, for what must look the same there. Without Chromium
# the tests fail, unless HEADSCOPE_TESTS_WITHOUT_BROWSER is set; without Firefox its own are skipped.
found() {
    for name in "$@"; do
        if command -v "$name"; then return 0; fi
    done
    return 1
}
wanted=""
found chromium-headless-shell || wanted="chromium-headless-shell"
found firefox-esr firefox || wanted="$wanted firefox-esr"
if [ -n "$wanted" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    timeout 60 apt-get update -qq
    for package in $wanted; do
        echo "Installing Debian's $package."
        timeout 200 apt-get install -y -qq --no-install-recommends "$package" fonts-dejavu-core >/dev/null
    done
fi
found firefox-esr firefox >/dev/null || echo "NO FIREFOX FOUND: its tests will be skipped."
found chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable >/dev/null && exit 0
echo "No Chromium on PATH and none from apt-get: trying Playwright's own."
.venv/bin/python -m playwright install chromium && exit 0
echo "NO BROWSER FOUND: make test fails, unless HEADSCOPE_TESTS_WITHOUT_BROWSER=yes is set."
exit 0
