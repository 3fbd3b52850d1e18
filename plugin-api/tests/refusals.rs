//! Compiles what authors may not write. The programs of `accepted`, which keep to the rules, are tests of their own: `trybuild` links
//! each dependency where a single program has to compile, and only checks it otherwise.
//!
//! Groups the rules by attribute, each in a module of a file, since a run of the compiler costs a second. Errors that the compiler
//! reports only if all types are right (borrows, lints, unsafe calls) have files of their own.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken() {
    let cases = trybuild::TestCases::new();
    // The messages are those of the workspace's compiler; other versions word their parts differently.
    cases.compile_fail("tests/ui/*.rs");
}
