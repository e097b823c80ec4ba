#!/usr/bin/env bash
# A headless Chromium, for the tests of the pages that `toolchain bundle report` writes. As root on Debian it installs
# one; otherwise it says what is missing, and exits with 1.
set -euo pipefail

if command -v chromium >/dev/null; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    printf '%s\n' "No Chromium for the tests of reports. On Debian: sudo apt-get install chromium" >&2
    exit 1
fi
printf '%s\n' "Installing: chromium" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
apt-get install -y -qq --no-install-recommends chromium >/dev/null
