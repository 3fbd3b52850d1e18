//! What the compiler says where an author breaks a rule: each file under `ui` breaks one.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken() {
    // The texts are those of the compiler the workspace is checked with; another one words its own parts differently.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
