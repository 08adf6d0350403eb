#!/usr/bin/env bash
# Fuzzes each target (or those named) for so many seconds, starting from its committed corpus. What is new is kept in the
# build directory between runs; a crash ends the run with the input in fuzz/artifacts.
# Usage: fuzz/run.sh SECONDS [TARGET...]
# JOBS=2 runs two targets at a time. Without a nightly toolchain and cargo-fuzz it says so, does nothing and ends with 77.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?how many seconds for each target}
shift
toolchain=${FUZZ_TOOLCHAIN:-nightly}

skip() { echo "SKIPPED: fuzzing: $*"; exit 77; }

cargo "+$toolchain" --version >/dev/null 2>&1 || skip "there is no $toolchain toolchain"
cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz || skip "cargo-fuzz can't be installed"

if [ $# -eq 0 ]; then
    mapfile -t targets < <(cargo "+$toolchain" fuzz list)
    set -- "${targets[@]}"
fi
for target in "$@"; do cargo "+$toolchain" fuzz build "$target"; done

run_one() {
    local target=$1 kept=${CARGO_TARGET_DIR:-fuzz/target}/corpora/$1
    local found=fuzz/artifacts/$target log
    mkdir -p "$kept" "$found"
    log=$kept.log
    if cargo "+$toolchain" fuzz run "$target" "$kept" "fuzz/corpora/$target" -- \
        -max_total_time="$seconds" -max_len=16384 -len_control=0 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        printf '%s: %s\n' "$target" "$(grep -E '^#[0-9]+\s+DONE' "$log" | tr '\t' ' ')"
    else
        grep -v '^#' "$log" | tail -60
        printf '%s: FAILED; fuzz/README.md says how to reproduce it\n' "$target"
        return 1
    fi
}
export -f run_one
export seconds toolchain

printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I '{}' bash -c 'run_one {}'
