# Commands of contributors, for `just`: `just`, `just test`, `just lint`. Each is a line that also runs without `just`.

# Lists the commands.
default:
    @just --list

# Runs the tests; arguments choose some, for example `just test --test all -- rollback::`.
test *arguments:
    cargo test {{arguments}}

# Checks the format of all workspaces, and lints of the workspace and of both workspaces of plugins.
lint:
    .ci/formats
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy --test soak --test growth -- -D warnings
    cargo clippy --manifest-path example-plugins/Cargo.toml --workspace --target-dir target/tmp/plugins -- -D warnings
    cargo clippy --manifest-path runtime/tests/plugins/Cargo.toml --workspace --target-dir target/tmp/plugins -- -D warnings

# Formats all workspaces.
format:
    .ci/formats --write

# Checks spelling; installs typos below target.
spelling:
    .ci/spelling

# Builds the documentation with all features; a broken link is an error.
docs:
    RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --all-features

# Builds the book; needs mdbook.
book:
    mdbook build runtime/book

# Runs benchmarks; arguments choose some, for example `just bench --bench calls`.
bench *arguments:
    cargo bench {{arguments}}

# Edits an example plugin four times under a thousand objects.
demo:
    cargo run --bin alcedo -- demo

# Runs all checks of CI.
ci:
    .ci/run
