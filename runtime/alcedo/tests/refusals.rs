//! Tests that safe host code cannot access memory. Each `.rs` file in `ui` contains an attempt. The `.stderr` file next to it contains the
//! expected compiler errors.

use alcedo_runtime::{Runtime, World};

/// Has one implementation for types that are neither `Send` nor `Sync`. For all other types, the implementation is ambiguous, and the line
/// below does not compile.
trait ThreadBound<Why> {
    const HOLDS: () = ();
}

struct IsSent;
struct IsShared;

impl<T> ThreadBound<()> for T {}
impl<T: Send> ThreadBound<IsSent> for T {}
impl<T: Sync> ThreadBound<IsShared> for T {}

const _: [(); 2] = [<Runtime as ThreadBound<_>>::HOLDS, <World as ThreadBound<_>>::HOLDS];

#[test]
#[ignore = "compiles all crates again: `cargo test --test refusals -- --ignored`, as .ci/run does"]
fn safe_host_code_violating_memory_safety_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
