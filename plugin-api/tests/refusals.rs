//! Compiles what authors write: files of `ui` break rules, those of `accepted` keep to them.
//!
//! Groups the rules by attribute, each in a module of a file, since a run of the compiler costs a second. Errors that the compiler
//! reports only if all types are right (borrows, lints, unsafe calls) have files of their own.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken_and_the_rest_compiles() {
    let cases = trybuild::TestCases::new();
    // The texts are those of the compiler the workspace is checked with; another one words its own parts differently.
    cases.compile_fail("tests/ui/*.rs");
    cases.pass("tests/accepted/*.rs");
}
