//! Tests that safe host code that would violate memory safety does not compile. Each `.rs` file in `ui` contains such code. The `.stderr`
//! file next to it contains the expected compiler errors.

use alcedo_runtime::{Runtime, World};

/// Implemented once for a type that is neither `Send` nor `Sync`. For all other types several implementations apply, so the constant below
/// does not compile.
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
