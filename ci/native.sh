#!/usr/bin/env bash
# The native checks: everything compiled with warnings as errors, the tests and mutations of the layout and replay
# libraries under AddressSanitizer and UndefinedBehaviorSanitizer, replay's threads under ThreadSanitizer, and fuzzing
# where Clang is installed.
#
# SLANG_ROOT=DIR (a Slang compiler root, e.g. from `toolchain install slang`) adds the recorder, the replay library and
# the GPU host; the host with slang-rhi from source is built where the cache holds what that takes.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH=$PWD/.venv/bin:$PATH # CMake and Ninja come with the package's dependencies
jobs=${JOBS:-$(nproc)}
build=build/native
root=${SLANG_ROOT:-}

step() { printf '\n== %s\n' "$*"; }

configure() { # FOLDER OPTION...
    local folder=$1
    shift
    cmake -S native -B "$folder" -G Ninja -DDREAM_BUILD_TESTS=ON -DDREAM_WARNINGS_AS_ERRORS=ON "$@" >"$folder.log" 2>&1 || {
        cat "$folder.log"
        return 1
    }
}

mkdir -p "$build"

step "warnings as errors"
recorder=()
replay=()
subjects=(layout)
if [ -n "$root" ]; then
    recorder=(-DDREAM_BUILD_RECORDER=ON)
    replay=(-DDREAM_BUILD_REPLAY=ON "-DSLANG_ROOT=$root")
    subjects+=(replay)
    if [ -f "$root/lib/libslang-rhi.a" ]; then
        recorder+=(-DDREAM_BUILD_HOST=ON)
    else
        echo "SKIP host: $root holds no prebuilt slang-rhi"
    fi
else
    echo "SKIP recorder, replay and host: SLANG_ROOT names no Slang compiler root"
fi
configure "$build/release" -DCMAKE_BUILD_TYPE=Release "${recorder[@]}" "${replay[@]}"
cmake --build "$build/release" --parallel "$jobs"
ctest --test-dir "$build/release" --output-on-failure

step "the host with slang-rhi from source"
if lacking=$(toolchain fetch slang slang-rhi vulkan-headers --profile source --check --offline 2>&1); then
    env -u DREAM_SLANG toolchain build native --profile source --backend vulkan --backend cuda --offline --jobs "$jobs"
else
    echo "SKIP host from source: the cache lacks what package indexes do not have"
    echo "$lacking"
fi

step "address and undefined-behaviour sanitizers"
configure "$build/sanitized" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DDREAM_SANITIZE=address;undefined" "${replay[@]}"
cmake --build "$build/sanitized" --parallel "$jobs"
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
ctest --test-dir "$build/sanitized" --output-on-failure
for subject in "${subjects[@]}"; do
    "$build/sanitized/tests/dream-$subject-mutate" 100000 7
done
"$build/sanitized/tests/dream-bundle-mutate" 100000 7 tests/data/bundles/small.dgb
"$build/sanitized/tests/dream-spirv-mutate" 100000 7 tests/data/bundles/{kinds,permutations,rays,structs}.dgb
"$build/sanitized/tests/dream-air-mutate" 100000 7 tests/data/air/[mr]*.ll tests/data/air/reports/*.ll

step "thread sanitizer"
configure "$build/threads" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDREAM_SANITIZE=thread "${replay[@]}"
threaded=(dream-host-core-tests)
[ -z "$root" ] || threaded+=(dream-replay-tests)
cmake --build "$build/threads" --parallel "$jobs" --target "${threaded[@]}"
for program in "${threaded[@]}"; do
    TSAN_OPTIONS=halt_on_error=1 "$build/threads/tests/$program"
done

step "libFuzzer"
if ! command -v clang++ >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    apt-get install -y -qq --no-install-recommends clang "libclang-rt-$version-dev" >/dev/null
fi
if command -v clang++ >/dev/null; then
    configure "$build/fuzz" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        "-DDREAM_SANITIZE=address;undefined" -DDREAM_BUILD_FUZZERS=ON "${replay[@]}"
    cmake --build "$build/fuzz" --parallel "$jobs"
    for subject in "${subjects[@]}"; do
        mkdir -p "$build/corpus-$subject"
        "$build/fuzz/tests/dream-$subject-mutate" --corpus "$build/corpus-$subject"
        "$build/fuzz/fuzz/dream-$subject-fuzz" -max_total_time="${FUZZ_SECONDS:-30}" -print_final_stats=1 \
            "$build/corpus-$subject"
    done
    mkdir -p "$build/corpus-bundle"
    cp tests/data/bundles/small.dgb "$build/corpus-bundle"
    "$build/fuzz/fuzz/dream-bundle-fuzz" -max_total_time="${FUZZ_SECONDS:-30}" -print_final_stats=1 \
        "$build/corpus-bundle"
    mkdir -p "$build/corpus-spirv"
    "$build/fuzz/fuzz/dream-spirv-fuzz" -max_total_time="${FUZZ_SECONDS:-30}" -max_len=20000 -print_final_stats=1 \
        "$build/corpus-spirv"
    mkdir -p "$build/corpus-air"
    cp tests/data/air/*.ll tests/data/air/reports/*.ll "$build/corpus-air"
    "$build/fuzz/fuzz/dream-air-fuzz" -max_total_time="${FUZZ_SECONDS:-30}" -max_len=20000 -print_final_stats=1 \
        "$build/corpus-air"
else
    echo "SKIP libFuzzer: clang++ is not installed (Debian packages clang and libclang-rt-dev); the mutations above ran"
fi
