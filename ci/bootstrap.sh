#!/usr/bin/env bash
# What `make` needs before Python can take over: Python 3.10 or newer with venv and headers, a C++20 compiler, git.
# Prints the Python to use. As root on Debian or Ubuntu it installs what is missing; otherwise it says what that is.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if "$candidate" -c 'import sys; raise SystemExit(sys.version_info < (3, 10))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

# Each line: a Debian package, and a colon, and what it is for. Nothing is printed when nothing is missing.
missing() {
    local python compiler
    python=$(find_python)
    if [ -z "$python" ]; then
        echo "python3:Python 3.10 or newer"
        echo "python3-venv:virtual environments"
        echo "python3-dev:Python's headers"
    else
        "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "python3-venv:virtual environments"
        "$python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
            echo "python3-dev:Python's headers"
    fi
    compiler=${CXX:-c++}
    # shellcheck disable=SC2086  # CXX may carry options, as make and CMake allow
    echo 'int main() { return __cplusplus >= 202002L ? 0 : 1; }' | $compiler -std=c++20 -x c++ -fsyntax-only - 2>/dev/null ||
        echo "g++:a C++20 compiler"
    command -v git >/dev/null || echo "git:applying patches"
}

needs=$(missing)
if [ -n "$needs" ]; then
    packages=$(cut -d: -f1 <<<"$needs" | tr '\n' ' ')
    say "This machine lacks:"
    while IFS=: read -r package purpose; do say "  $purpose (Debian package $package)"; done <<<"$needs"
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        say "Install them, then run make again. On Debian or Ubuntu: sudo apt-get install $packages"
        exit 1
    fi
    say "Installing: $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    # shellcheck disable=SC2086  # a list of package names
    apt-get install -y -qq --no-install-recommends $packages >/dev/null
    still=$(missing)
    if [ -n "$still" ]; then
        say "Still missing after that: $(tr '\n' ' ' <<<"$still")"
        exit 1
    fi
fi
find_python
