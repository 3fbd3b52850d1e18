//! What safe code of a host cannot even write down: each file in `ui` is a way into memory that somebody tried, and the
//! compiler's answer stands beside it.

#[test]
fn no_way_from_safe_code_of_a_host_into_memory_compiles() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
