#!/usr/bin/env bash
# Makes the committed corpora anew: of the seeds (lines in many spellings, the examples' traces), what is committed and what
# runs have found, few and short inputs that reach all the code that they reach together.
# Usage: fuzz/minimise.sh [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=${FUZZ_TOOLCHAIN:-nightly}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ $# -eq 0 ]; then
    mapfile -t targets < <(cargo "+$toolchain" fuzz list)
    set -- "${targets[@]}"
fi

# Only the targets that take text have seeds.
if [[ " $* " =~ " decode_bytes " || " $* " =~ " reader_chunks " ]]; then
    cargo run --quiet --release --example interpreter -- --trace "$scratch/interpreter.jsonl" >/dev/null
    cargo run --quiet --release --example lua -- --trace "$scratch/lua.jsonl" >/dev/null
    COVE_TRACE_SEEDS=$scratch/seeds COVE_TRACE_TRACES="$scratch/interpreter.jsonl $scratch/lua.jsonl" \
        cargo test --quiet --features arbitrary --test fuzzing -- --ignored write_seeds
fi

for target in "$@"; do
    all=$scratch/all/$target fewest=$scratch/fewest/$target
    mkdir -p "$all" "$fewest"
    for from in "$scratch/seeds/$target" "${CARGO_TARGET_DIR:-fuzz/target}/corpora/$target" "fuzz/corpora/$target"; do
        if [ -d "$from" ]; then cp -r "$from/." "$all/"; fi
    done
    # What `cargo fuzz cmin` keeps, one input for each number of times that some code runs, is several times as much.
    cargo "+$toolchain" fuzz run "$target" "$fewest" "$all" -- -set_cover_merge=1 -use_counters=0 -max_len=16384
    rm -rf "fuzz/corpora/$target"
    cp -r "$fewest" "fuzz/corpora/$target"
done
du -sbc fuzz/corpora/*
