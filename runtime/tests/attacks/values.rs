//! Tests values that change while a part of the value is borrowed.
#![expect(unsafe_code, reason = "ages a container through an entry point for tests of this crate")]

use alcedo_runtime::{Budget, ObjectHandle, Runtime, Value};

use super::{assert_works, host, query, spawn};

fn holder() -> (Runtime, ObjectHandle) {
    let host = host();
    let holder = spawn(&host, "Holder");
    (host, holder)
}

fn check(function: &str, expected: &str) {
    let (host, holder) = holder();
    let answer = query(&host, holder, function);
    assert!(answer.contains(expected), "{function}: {answer}");
    assert_works(&host);
}

#[test]
fn a_part_of_a_value_is_taken_before_the_value_is_overwritten() {
    check("part_of_itself", "done ((\"two\"), (\"three\", \"four\"))");
}

#[test]
fn a_value_of_a_map_can_become_its_key() {
    check("value_as_key", "5 Some(\"x\")");
}

#[test]
fn keys_and_their_parts_cannot_be_changed_in_place() {
    check("write_keys", "36 refused, 2: ");
    check("write_keys", "copy the key by `to_owned()`, remove the key, and insert the changed copy");
    let (host, holder) = holder();
    for variant in 0..6 {
        let refused = host
            .objects()
            .call(holder, "write_a_key", &[Value::U32(variant)])
            .expect_err("a key stays as it is")
            .to_string();
        assert!(refused.contains("in a key cannot be changed in place"), "{variant}: {refused}");
    }
    assert_eq!(host.objects().get(holder, "keys").expect("there"), Value::Set(vec![Value::Text("one".into())]));
    assert_works(&host);
}

#[test]
fn keys_changed_in_place_never_cause_out_of_bounds_access() {
    check("keys_that_change", "1 (\"one\")");
}

#[test]
fn a_hash_that_clears_the_set_being_copied_sees_the_copy_only() {
    let (host, holder) = holder();
    host.objects().call(holder, "hash_that_clears", &[]).expect("the call succeeds");
    host.tick(Budget::frame());
    assert_eq!(
        host.objects().get(holder, "texts").expect("there"),
        Value::Array(vec![Value::Text("40 of 1000".into())])
    );
    assert_works(&host);
}

#[test]
fn a_hash_that_empties_nested_sets_sees_the_copy_only() {
    let (host, holder) = holder();
    host.objects().call(holder, "hash_that_empties_sets", &[]).expect("the call succeeds");
    host.tick(Budget::frame());
    assert_eq!(
        host.objects().get(holder, "texts").expect("there"),
        Value::Array(vec![Value::Text("[1, 1, 1, 1, 1, 1, 1, 1], 0 left".into())])
    );
    assert_works(&host);
}

#[test]
fn a_hash_that_overwrites_another_argument_is_run_after_all_are_read() {
    let (host, holder) = holder();
    host.objects().call(holder, "hash_that_overwrites_an_argument", &[]).expect("the call succeeds");
    host.tick(Budget::frame());
    let lines = [r#"1 ["one", "two"]"#, r#"(("gone", "gone"))"#].map(|line| Value::Text(line.into()));
    assert_eq!(host.objects().get(holder, "texts").expect("there"), Value::Array(lines.into()));
    assert_works(&host);
}

#[test]
fn a_write_from_a_source_that_has_expired_changes_nothing() {
    check("expired_source", "has expired");
}

#[test]
fn a_write_of_several_values_is_done_whole_or_not_at_all() {
    check(
        "half_a_write",
        "(\"a\", \"b\", \"c\") (\"a\", \"b\", \"c\") ((\"a\", \"9\"), (\"b\", \"2\"), (\"c\", \"4\")) some(\"a\")",
    );
}

#[test]
fn a_write_of_the_host_is_done_whole_or_not_at_all() {
    let (host, holder) = holder();
    host.objects().call(holder, "half_a_write", &[]).expect("it fills the containers");
    let ansi = |text: &str| Value::Ansi(text.to_owned());
    for (property, value) in [
        ("latin", Value::Array(vec![ansi("x"), ansi("\u{20ac}")])),
        ("latin", Value::Array(vec![ansi("x"), Value::U64(1)])),
        ("latin_set", Value::Set(vec![ansi("x"), ansi("\u{20ac}")])),
        ("latin_map", Value::Map(vec![(ansi("x"), ansi("y")), (ansi("z"), Value::Bool(true))])),
        ("latin_optional", Value::Optional(Some(Box::new(Value::U64(1))))),
        ("rows", Value::Array(vec![Value::Array(vec![Value::Text("x".into())]), Value::Array(vec![ansi("x")])])),
    ] {
        let before = host.objects().get(holder, property).expect("there");
        assert!(host.objects().set(holder, property, &value).is_err(), "{property}");
        assert_eq!(host.objects().get(holder, property).expect("there"), before, "{property}");
    }
    assert_works(&host);
}

#[test]
fn a_typed_call_is_refused_without_a_comparable_signature() {
    check("typed_call_of_a_delegate", "none that can be compared: call it with values whose types are queried");
}

#[test]
fn iterating_a_growing_array_sees_its_current_elements() {
    check("grow_an_array", "1000 seen, some had moved");
}

#[test]
fn growing_a_set_during_iteration_ends_the_iteration_with_an_error() {
    check("grow_a_set", "changes of its container");
}

#[test]
fn growing_a_map_during_iteration_ends_the_iteration_with_an_error() {
    check("grow_a_map", "changes of its container");
}

#[test]
fn destroying_the_owner_ends_an_array_iteration_with_an_error() {
    check("destroy_what_is_walked", "the lifetime of its owner");
}

/// Sets the counter close to its maximum through the benchmark API. A test cannot make 2⁶⁴ changes.
#[test]
fn a_container_with_an_exhausted_epoch_counter_has_no_valid_stale_views() {
    let (host, holder) = holder();
    host.objects().call(holder, "fill", &[]).expect("it fills the containers");
    for (property, epoch) in [("texts", u64::MAX - 3), ("keys", u64::MAX), ("numbers", u64::MAX)] {
        // SAFETY: no plugin code runs, so no view into the container exists.
        unsafe { host.bench() }.age(holder, property, epoch).expect("a container");
    }
    let answer = query(&host, holder, "count_to_the_end");
    let lines: Vec<&str> = answer.lines().collect();
    let [first, second, third, last, rest @ ..] = &lines[..] else { panic!("{answer}") };
    for early in [first, second, third] {
        let (fresh, stale) = early.split_once(" / ").expect("two halves");
        assert!(fresh == "done" && stale.contains("has expired"), "{answer}");
    }
    let (fresh, stale) = last.split_once(" / ").expect("two halves");
    for worn in [fresh, stale] {
        assert!(worn.contains("put the values into a new container"), "{answer}");
    }
    assert_eq!(rest, ["2 6", "2 copied"], "operations without a view still work: {answer}");
    assert_works(&host);
}

#[test]
fn objects_nested_20_000_deep_are_traversed_without_recursion() {
    let (host, holder) = holder();
    host.objects().call(holder, "nest", &[Value::U32(20_000)]).expect("nested");
    host.tick(Budget::frame());
    let deepest = host.objects().iter().next_back().expect("one");
    let path = host.objects().path_of(deepest).expect("alive");
    assert!(path.matches('/').count() > 20_000, "{}", path.len());
    assert_eq!(host.objects().at_path(&path), Some(deepest));
    assert_eq!(host.worlds().hash(), host.worlds().hash());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("deep.world");
    host.worlds().save(&file).expect("saved");
    host.worlds().load(&file).expect("loaded");
    let outermost = path.split('/').take(3).collect::<Vec<_>>().join("/");
    host.collection().collect().expect("a safe point");
    host.objects().destroy(host.objects().at_path(&outermost).expect("it was saved, too"));
    host.tick(Budget::frame());
    assert_works(&host);
}

#[test]
fn a_type_nested_100_000_deep_is_refused_when_parsed() {
    let (host, _holder) = holder();
    for (before, after) in [("Array(", ")"), ("Optional(", ")"), ("Map(u8, ", ")"), ("Delegate(", ")")] {
        let text = before.repeat(100_000) + "u8" + &after.repeat(100_000);
        let refused = host.conjugates().make(&text, &Value::U8(0)).expect_err("the type is too deep");
        assert!(refused.to_string().contains("deeper than"), "{}", &refused.to_string()[..80]);
        for half in [&text[..before.len() * 100_000], &text[before.len() * 100_000..]] {
            assert!(host.conjugates().make(half, &Value::U8(0)).is_err());
        }
    }
    assert_works(&host);
}
