//! Tests broadcasts of scripts while listeners and arguments change the delegate, or destroy objects.

use alcedo_script::Limits;

use crate::attacks::{check, robot, robot_of};

#[test]
fn listeners_destroyed_during_a_broadcast_are_skipped() {
    check(
        r#"
        var Robot Victim;
        var string Calls;
        function Ends(int n) { destroy_it(Victim); Calls $= "ends" $ n; }
        function Counts(int n) { Calls $= "counts"; }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            local Robot other;
            other = new class'Robot'; Victim = other;
            on_touch.Add(Ends); on_touch.Add(other.Counts); on_touch.Add(Last);
            on_touch.Broadcast(5);
            return Calls;
        }
        "#,
        "Reports",
        "ends5last5",
    );
}

#[test]
fn listeners_removed_during_a_broadcast_of_a_script_are_skipped() {
    check(
        r#"
        var string Calls;
        function Removes(int n) { Calls $= "removes" $ n; on_touch.Remove(Last); }
        function Clears(int n) { Calls $= "clears" $ n; on_touch.Clear(); }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            local Robot other;
            on_touch.Add(Removes); on_touch.Add(Last); on_touch.Add(Clears); on_touch.Broadcast(5);
            other = new class'Robot';
            other.on_touch.Add(Last); other.on_touch.Add(Removes); other.on_touch.Broadcast(6);
            return Calls;
        }
        "#,
        "Reports",
        "removes5clears5last6removes6",
    );
}

#[test]
fn listeners_removed_from_a_sparse_delegate_during_its_broadcast_are_skipped() {
    check(
        r#"
        var string Calls;
        function Removes(int n) { Calls $= "removes" $ n; on_rest.Remove(Last); }
        function Clears(int n) { Calls $= "clears" $ n; on_rest.Clear(); }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            on_rest.Add(Removes); on_rest.Add(Last); on_rest.Broadcast(5);
            on_rest.Clear();
            on_rest.Add(Clears); on_rest.Add(Last); on_rest.Broadcast(6);
            return Calls;
        }
        "#,
        "Reports",
        "removes5clears6",
    );
}

#[test]
fn a_listener_removed_in_a_nested_broadcast_is_skipped_by_all_broadcasts_of_the_delegate() {
    check(
        r#"
        var string Calls;
        function Nests(int n) {
            Calls $= "nests" $ n;
            if (n > 0) on_touch.Broadcast(n - 1); else on_touch.Remove(Last);
        }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            on_touch.Add(Nests); on_touch.Add(Last); on_touch.Broadcast(2);
            return Calls;
        }
        "#,
        "Reports",
        "nests2nests1nests0",
    );
}

#[test]
fn listeners_removed_from_an_element_or_a_field_during_its_broadcast_are_skipped() {
    check(
        r#"
        var string Calls;
        function OfElement(int n) { Calls $= "element" $ n; touches.Length = 99; touches[1].Remove(Last); }
        function OfField(int n) { Calls $= "field" $ n; panel.on_press.Clear(); }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            touches.Length = 2;
            touches[1].Add(OfElement); touches[1].Add(Last); touches[1].Broadcast(5);
            panel.on_press.Add(OfField); panel.on_press.Add(Last); panel.on_press.Broadcast(6);
            return Calls;
        }
        "#,
        "Reports",
        "element5field6",
    );
}

#[test]
fn sparse_delegates_are_called() {
    check(
        "var int Energy;\nfunction Adds(int n) { Energy += n; }\n\
         function int Reports() { on_rest.Broadcast(4); on_rest.Add(Adds); on_rest.Broadcast(3); return Energy; }",
        "Reports",
        "3",
    );
}

#[test]
fn a_listener_may_end_the_object_that_calls() {
    let (scripts, robot) = robot(
        "var int Energy;\nvar Robot Caller;\nfunction Ends(int n) { destroy_it(Caller); }\n\
         function Last(int n) { Energy += n; }\n\
         function int Reports() { local Robot other; other = new class'Robot'; other.Caller = self; other.Energy = 2;\n\
         on_touch.Add(other.Ends); on_touch.Add(Last); on_touch.Add(other.Last); on_touch.Broadcast(4); return other.Energy; }",
    );
    assert_eq!(scripts.outcome(robot, "Reports"), "6");
}

#[test]
fn bindings_that_the_arguments_of_a_broadcast_remove_are_not_called() {
    check(
        r#"
        var string Calls;
        function int RemovesLast() { on_touch.Remove(Last); on_rest.Remove(Last); return 5; }
        function First(int n) { Calls $= "first" $ n; }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            on_touch.Add(First); on_touch.Add(Last); on_touch.Broadcast(RemovesLast());
            on_rest.Add(First); on_rest.Add(Last); on_rest.Broadcast(RemovesLast());
            return Calls;
        }
        "#,
        "Reports",
        "first5first5",
    );
}

#[test]
fn a_delegate_that_the_arguments_of_its_broadcast_destroy_still_calls_its_listeners() {
    check(
        r#"
        var string Calls; var Robot Victim;
        function int Destroys() { destroy_it(Victim); return 7; }
        function First(int n) { Calls $= "first" $ n; }
        function Last(int n) { Calls $= "last" $ n; }
        function string Reports() {
            local Robot other;
            other = new class'Robot'; Victim = other;
            other.on_touch.Add(First); other.on_touch.Add(Last); other.on_touch.Broadcast(Destroys());
            return Calls;
        }
        "#,
        "Reports",
        "first7last7",
    );
}

#[test]
fn listeners_that_repeat_a_broadcast_of_a_script_end_after_few_calls() {
    let (scripts, robot) = robot(
        r#"
        var int Calls;
        function Repeat() { on_touch.Broadcast(1); }
        function First(int n) { Calls += 1; if (Calls < 1000) try_call("Repeat"); }
        function Second(int n) { First(n); }
        function int Reports() { on_touch.Add(First); on_touch.Add(Second); on_touch.Broadcast(1); return Calls; }
        "#,
    );
    let calls = scripts.outcome(robot, "Reports");
    assert!(calls.parse::<u32>().is_ok_and(|calls| calls <= 128), "{calls} calls");
}

#[test]
fn listeners_that_repeat_a_broadcast_end_after_few_calls_without_memory_for_a_native_call() {
    // These frames exhaust the memory before the maximum number of entries is reached. The block of `weigh` is larger than each frame.
    let fields: String = (0..800).map(|at| format!("var int a{at}; ")).collect();
    let body = format!(
        r#"
        struct Large {{ {fields} }};
        var int Calls;
        function Repeat() {{ weigh(); on_touch.Broadcast(1); }}
        function First(int n) {{ local Large l; l.a0 = n; Calls += l.a0; if (Calls < 1000) try_call("Repeat"); }}
        function Second(int n) {{ First(n); }}
        function int Reports() {{ on_touch.Add(First); on_touch.Add(Second); on_touch.Broadcast(1); return Calls; }}
        "#
    );
    let (scripts, robot) = robot_of(Limits { memory: 1 << 16, ..Limits::default() }, &body);
    let calls = scripts.outcome(robot, "Reports");
    assert!(calls.parse::<u32>().is_ok_and(|calls| calls <= 128), "{calls} calls");
}
