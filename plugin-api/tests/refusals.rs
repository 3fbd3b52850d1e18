//! What the compiler says where an author breaks a rule: each file under `ui` breaks one. What looks odd and is right
//! stands under `accepted`.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken_and_the_rest_compiles() {
    let cases = trybuild::TestCases::new();
    // The texts are those of the compiler the workspace is checked with; another one words its own parts differently.
    cases.compile_fail("tests/ui/*.rs");
    cases.compile_fail("tests/ui/rules/*.rs");
    cases.pass("tests/accepted/*.rs");
    // All others are modules of one program, `accepted/rules.rs`.
    cases.pass("tests/accepted/rules/ALC0069.rs");
    cases.pass("tests/accepted/rules/ALC007*.rs");
}
