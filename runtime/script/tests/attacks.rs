//! Tests errors in the middle of an operation, and operations over the limits. In each case, the machine must report an error and stay
//! usable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use alcedo_abi::host::mode;
use alcedo_abi::kinds::{PropertyKind, function_flags};
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl};
use alcedo_reflect::testing::native_thunk;
use alcedo_reflect::value::Value;
use alcedo_script::Limits;
use alcedo_script::code::{CallSite, Ins, Target};
use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::package::Scripts;
use crate::support::{path, stage, test_function, try_stage};

/// Creates a class `Robot` with this body. Returns the world and an object of the class.
pub(crate) fn robot_of(limits: Limits, body: &str) -> (Scripts, ObjectHandle) {
    let scripts = Scripts::with_limits(limits);
    let text = format!("class Robot extends Machine;\n{body}");
    let class = scripts.load("Scripts", &[("Robot.uc", &text)]).remove(0);
    let robot = scripts.object(&class);
    (scripts, robot)
}

pub(crate) fn robot(body: &str) -> (Scripts, ObjectHandle) {
    robot_of(Limits::default(), body)
}

/// Checks the result of a function, and that no call remains in the machine.
pub(crate) fn check(body: &str, function: &str, expected: &str) {
    let (scripts, robot) = robot(body);
    assert_eq!(scripts.outcome(robot, function), expected);
    assert!(!scripts.machine.is_running());
}

#[test]
fn listeners_that_are_skipped_count_as_rounds() {
    let limits = Limits { rounds: 100_000, ..Limits::default() };
    let body = "
        function Touched(int n) { }
        function int Fill() {
            local Robot other;
            local int i;
            for (i = 0; i < 50; i++) { other = new class'Robot'; on_touch.Add(other.Touched); destroy_it(other); }
            return i;
        }
        function int Touch() { local int i; for (i = 0; i < 10000; i++) on_touch.Broadcast(1); return i; }";
    let (scripts, robot) = robot_of(limits, body);
    assert_eq!(scripts.outcome(robot, "Touch"), "10000");
    assert_eq!(scripts.outcome(robot, "Fill"), "50");
    let error = scripts.outcome(robot, "Touch");
    assert!(error.contains("100000 loop rounds"), "{error}");
}

#[test]
fn an_order_that_panics_leaves_no_call_behind() {
    let (scripts, robot) = robot(
        "function int Sorts() { local array<int> a; a.AddItem(2); a.AddItem(1); a.Sort(order_panics); return 1; }\n\
         function int Fine() { return 3; }",
    );
    let outcome =
        catch_unwind(AssertUnwindSafe(|| scripts.call(robot, "Sorts", &[]).map_err(|error| error.to_string())));
    assert!(!scripts.machine.is_running());
    let error = outcome.expect("the panic stops at the edge of the machine").expect_err("it is an error");
    assert!(error.contains("a bug of the host's order") && error.contains("Robot:Sorts"), "{error}");
    assert_eq!(scripts.outcome(robot, "Fine"), "3");
}

/// Log that calls a function for each line.
struct Log<F>(F);

impl<F: Fn(String) + 'static> Subscriber for Log<F>
where
    F: Send + Sync,
{
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "alcedo::script"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut |_field: &Field, value: &dyn std::fmt::Debug| line += &format!("{value:?}"));
        (self.0)(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Runs `code`, and returns the lines that the machine has logged.
fn logged(code: impl FnOnce()) -> Vec<String> {
    let (sender, lines) = mpsc::channel();
    tracing::subscriber::with_default(Log(move |line: String| drop(sender.send(line))), code);
    lines.try_iter().collect()
}

#[test]
fn a_log_subscriber_that_panics_does_not_interrupt_a_script() {
    let (scripts, robot) = robot(
        "function int Divides() { return Below(3, 0); }\nfunction int Below(int a, int b) { local string s; s = \"kept\"; return a / b; }\n\
         function int Fine() { return 3; }",
    );
    let log = Log(|_| panic!("a bug of the log"));
    assert_eq!(tracing::subscriber::with_default(log, || scripts.outcome(robot, "Divides")), "0");
    assert!(!scripts.machine.is_running());
    assert_eq!(scripts.outcome(robot, "Fine"), "3");
}

#[test]
fn a_sort_whose_order_ends_the_object_is_an_error() {
    let (scripts, robot) = robot(
        "var array<int> Row;\nfunction int Order(int a, int b) { destroy_it(self); return -1; }\n\
         function int Sorts() { Row.AddItem(2); Row.AddItem(1); Row.Sort(Order); return 1; }",
    );
    let outcome = scripts.outcome(robot, "Sorts");
    assert!(outcome.contains("is gone"), "{outcome}");
}

#[test]
fn a_sort_is_stable_compares_rarely_and_keeps_all_elements() {
    check(
        r#"
        struct Pair { var int Key; var int At; };
        var int Answered;
        function int Order(Pair a, Pair b) { Answered++; return b.Key - a.Key; }
        function int Backwards(int a, int b) { return -1; }
        function string Sorts() {
            local array<Pair> row; local array<int> odd; local Pair one; local int i, sum;
            for (i = 0; i < 300; i++) { one.Key = (i * 7) % 10; one.At = i; row.AddItem(one); odd.AddItem(i); }
            row.Sort(Order);
            for (i = 1; i < row.Length; i++) {
                if (row[i - 1].Key > row[i].Key || (row[i - 1].Key == row[i].Key && row[i - 1].At > row[i].At)) return "wrong at " $ i;
            }
            if (Answered > 300 * 10) return "asked " $ Answered;
            odd.Sort(Backwards);
            for (i = 0; i < odd.Length; i++) sum += odd[i];
            return "in order " $ sum $ " of " $ odd.Length;
        }
        "#,
        "Sorts",
        "in order 44850 of 300",
    );
}

#[test]
fn rounds_stay_used_up_where_native_code_hides_the_error() {
    let limits = Limits { rounds: 5_000, ..Limits::default() };
    let body = "function Endless() { while (true) Tick(); }\nfunction Tick() {}\n\
                function int Counts(int n) { local int i; for (i = 0; i < n; i++) Tick(); return i; }\n\
                function int After() { try_call(\"Endless\"); return Counts(20000); }\n\
                function EndlessLoop() { local int i; while (true) i++; }\n\
                function int AfterLoop() { local int i; try_call(\"EndlessLoop\"); for (i = 0; i < 20000; i++) {} return i; }";
    let (scripts, robot) = robot_of(limits, body);
    for name in ["After", "AfterLoop"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.contains("never ends"), "{name}: {outcome}");
    }
}

#[test]
fn operations_that_go_over_a_container_cost_rounds() {
    let limits = Limits { rounds: 100_000, ..Limits::default() };
    let row = "local array<int> a; local int i; a.Length = 10000;";
    let body = format!(
        "function int Order(int a, int b) {{ return 0; }}\n\
         function int Finds() {{ {row} for (i = 0; i < 100; i++) i += a.Find(1) + 1; return i; }}\n\
         function int Searches() {{ {row} for (i = 0; i < 100; i++) i += array_find(a, 1) + 1; return i; }}\n\
         function int RemovesFirst() {{ {row} for (i = 0; i < 100; i++) a.Remove(0, 1); return i; }}\n\
         function int Copies() {{ local array<int> b; {row} for (i = 0; i < 100; i++) b = a; return i; }}\n\
         function int Length(array<int> a) {{ return a.Length; }}\n\
         function int Passes() {{ local int n; {row} for (i = 0; i < 100; i++) n += Length(a); return n; }}\n\
         function int Texts() {{ local string s, t; local int i; s = \"0123456789abcdef\"; for (i = 0; i < 12; i++) s $= s;\n\
         for (i = 0; i < 1000; i++) t = s; return Len(t); }}\n\
         function int Sorts() {{ {row} for (i = 0; i < 20; i++) a.Sort(Order); return i; }}\n\
         function int Fine() {{ {row} for (i = 0; i < 1000; i++) a.AddItem(i); return a.Length; }}"
    );
    let (scripts, robot) = robot_of(limits, &body);
    for name in ["Finds", "Searches", "RemovesFirst", "Copies", "Passes", "Texts", "Sorts"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.contains("never ends"), "{name}: {outcome}");
    }
    assert_eq!(scripts.outcome(robot, "Fine"), "11000");
}

#[test]
fn copies_and_comparisons_cost_rounds_for_all_inner_values() {
    let limits = Limits { rounds: 100_000, ..Limits::default() };
    let row = "local array<int> a; local int i; a.Length = 10000;";
    let body = format!(
        "struct Big {{ var array<int> Row; }};\n\
         function int Structs() {{ local Big b, c; {row} b.Row = a; for (i = 0; i < 100; i++) c = b; return i; }}\n\
         function int Rows() {{ local array<array<int> > b, c; {row} b.AddItem(a); for (i = 0; i < 100; i++) c = b; return i; }}\n\
         function int Options() {{ local optional<array<int> > b, c; {row} b = a; for (i = 0; i < 100; i++) c = b; return i; }}\n\
         function int Sets() {{ local map<int, array<int> > b; {row} for (i = 0; i < 100; i++) b.Set(1, a); return i; }}\n\
         function int Compares() {{ local array<int> b; local int n; {row} b = a;\n\
         for (i = 0; i < 100; i++) {{ if (a == b) n++; }} return n; }}\n\
         function int Fine() {{ local Big b, c; local int i; b.Row.Length = 10; for (i = 0; i < 1000; i++) c = b; return i; }}"
    );
    let (scripts, robot) = robot_of(limits, &body);
    for name in ["Structs", "Rows", "Options", "Sets", "Compares"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.contains("never ends"), "{name}: {outcome}");
    }
    assert_eq!(scripts.outcome(robot, "Fine"), "1000");
}

#[test]
fn equal_elements_are_removed_in_one_pass_keeping_the_order() {
    let body = r#"
        function string Both() {
            local array<string> a, b; local string s; local int i;
            for (i = 0; i < 9; i++) { if (i % 3 == 0) s = "x"; else s = string(i); a.AddItem(s); b.AddItem(s); }
            s = a.RemoveItem("x") $ ":"; array_remove_item(b, "x");
            for (i = 0; i < a.Length; i++) s $= a[i] $ b[i];
            return s;
        }
        function int Many() { local array<int> a; a.Length = 400000; return a.RemoveItem(0) * 10 + a.Length; }
    "#;
    check(body, "Both", "3:112244557788");
    // An implementation that moves the remaining elements for each removal would move 80 billion elements.
    check(body, "Many", "4000000");
}

#[test]
fn lines_in_the_log_cost_rounds() {
    let limits = Limits { rounds: 1_000_000, ..Limits::default() };
    let body = "function int Floods() { local int i, n; for (i = 0; i < 1000; i++) n += 1 / (i * 0); return i; }\n\
                function int Reads() { local array<int> a; local int i, n; for (i = 0; i < 1000; i++) n += a[5]; return i; }\n\
                function int Few() { local int i, n; for (i = 0; i < 10; i++) n += 1 / (i * 0); return i; }";
    let (scripts, robot) = robot_of(limits, body);
    for name in ["Floods", "Reads"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.contains("never ends"), "{name}: {outcome}");
    }
    assert_eq!(scripts.outcome(robot, "Few"), "10");
}

#[test]
fn a_log_line_names_the_innermost_calls_and_counts_the_rest() {
    let (scripts, robot) = robot(
        "function int Reports() { return Deeper(19); }\n\
         function int Deeper(int n) { if (n == 1) return 1 / (n - 1); return Deeper(n - 1); }",
    );
    let lines = logged(|| assert_eq!(scripts.outcome(robot, "Reports"), "0"));
    let line = &lines[0];
    assert_eq!(line.matches("Robot:Deeper at").count(), 8, "{line}");
    assert!(line.ends_with("… 12 more"), "{line}");
}

#[test]
fn no_value_of_a_script_exceeds_the_limit() {
    let limits = Limits { value: 1 << 16, ..Limits::default() };
    let body = r#"
        struct Wide { var int a, b, c, d; };
        var array<int> Own;
        function string Big() { local string s; local int i; s = "0123456789abcdef"; for (i = 0; i < 11; i++) s $= s; return s; }
        function int Length1() { local array<int> a; a.Length = 100000; return a.Length; }
        function int Element() { Own[100000] = 1; return Own.Length; }
        function int Local1() { local array<int> a; a[100000] = 1; return a.Length; }
        function int Structs() { local array<Wide> a; local Wide w; a[5000] = w; return a.Length; }
        function int Adds() { local array<string> a; a.Add(100000); return a.Length; }
        function int Inserts() { local array<int> a; a.Insert(0, 100000); return a.Length; }
        function int Items() { local array<int> a; local int i; for (i = 0; i < 20000; i++) a.AddItem(i); return i; }
        function int Resizes() { local array<int> a; array_resize(a, 100000); return a.Length; }
        function int Sets() { local array<int> a; array_set(a, 100000, 1, true); return a.Length; }
        function int Appends() { local array<int> a; local int i; a.Length = 9; for (i = 0; i < 20; i++) array_append(a, a); return i; }
        function int Doubles() { local string s; local int i; s = "x"; for (i = 0; i < 20; i++) s $= s; return i; }
        function int Spaced() { local string s; local int i; s = "x"; for (i = 0; i < 20; i++) s = s @ s; return i; }
        function int Replaced() { return Len(repl(Big(), "0", Big())); }
        function int Joined() { local array<string> a; local int i; for (i = 0; i < 9; i++) a.AddItem(Big()); return Len(join_array(a, "")); }
        function int Split1() { return split_string(Big() $ Big(), "0").Length; }
        function int Mapped() { local map<int, int> m; local int i; for (i = 0; i < 20000; i++) m.Set(i, i); return i; }
        function int Full() { local map<int, int> m; local int i; for (i = 0; i < 16384; i++) m.Set(i & 8191, i); return m.Length; }
        function int MapAdded() { local map<int, int> m; local int i; for (i = 0; i < 20000; i++) map_add(m, i, i); return i; }
        function int Fine() { local array<int> a; a.Length = 16384; return a.Length; }
    "#;
    let (scripts, robot) = robot_of(limits, body);
    let names = [
        "Length1", "Element", "Local1", "Structs", "Adds", "Inserts", "Items", "Resizes", "Sets", "Appends", "Doubles",
        "Spaced", "Replaced", "Joined", "Split1", "Mapped", "MapAdded",
    ];
    for name in names {
        let outcome = scripts.outcome(robot, name);
        assert!(
            outcome.contains("of 65536 that are allowed") && outcome.contains("`Limits::value`"),
            "{name}: {outcome}"
        );
    }
    assert_eq!(scripts.outcome(robot, "Fine"), "16384");
    assert_eq!(scripts.outcome(robot, "Full"), "8192", "keys that are there are written");
    let (scripts, robot) =
        self::robot("function int Huge() { local array<int> a; a.Length = 2147483647; return a.Length; }");
    assert!(scripts.outcome(robot, "Huge").contains("`Limits::value`"));
}

#[test]
fn arrays_of_small_structs_grow_with_default_fields() {
    let (scripts, robot) = robot(
        "struct Part { var int Count; structdefaultproperties { Count=7 } };\nvar array<Part> Own;\nvar Robot Other;\nvar Part Main;\n\
         function int Grows() { local array<Part> a; local Part p; p.Count = 1; a[2] = p; Own[2] = p;\n\
         return a[0].Count * 1000 + Own[1].Count * 100 + a[2].Count * 10 + Own.Length; }\n\
         function int Behind() { local array<Part> a; local Part p; local int i; i = 4; p = a[i]; return p.Count; }\n\
         function int OfNone() { local Part p; p = Other.Main; return p.Count; }",
    );
    assert_eq!(scripts.outcome(robot, "Grows"), "7713");
    assert_eq!(scripts.outcome(robot, "Behind"), "7");
    assert_eq!(scripts.outcome(robot, "OfNone"), "7");
}

#[test]
fn a_static_function_with_other_out_parameters_is_not_an_override() {
    let scripts = Scripts::new();
    let one = "class One extends Machine;\nstatic function int Ask(int n) { return 1; }\n\
               function int Reports(class<One> of) { local int n; return of.static.Ask(n); }";
    let two = "class Two extends Machine;\nstatic function int Ask(out int n) { return 2; }";
    let classes = scripts.load("Scripts", &[("One.uc", one), ("Two.uc", two)]);
    let object = scripts.object(classes.iter().find(|class| &*class.name == "One").unwrap());
    let class = |path: &str| Value::SubclassOf(scripts.world.names.intern(path));
    assert_eq!(scripts.call(object, "Reports", &[class("/Script/Scripts.One")]), Ok(Some(Value::I32(1))));
    assert_eq!(scripts.call(object, "Reports", &[class("/Script/Scripts.Two")]), Ok(Some(Value::I32(1))));
}

#[test]
fn assigning_the_value_before_a_step_restores_every_bit() {
    check(
        "function string Steps() { local float f, g; local int i; f = 16777216.0; f = f++; g = 16777216.0; g = g--; i = 4; i = i++;\n\
         return (f == 16777216.0) $ (g == 16777216.0) $ i; }",
        "Steps",
        "TrueTrue4",
    );
}

#[test]
fn scripts_call_scripts_before_a_commit_only_where_native_code_could() {
    let call = || CallSite { callee: Target::Final(None, path("inner").into()), args: Vec::new(), to: None };
    let mut outer = test_function("outer", &[], None).method();
    outer.decl.flags |= function_flags::PURE;
    outer.code.calls = vec![call()];
    let inner = test_function("inner", &[], None).method().code([Ins::Return]);
    let stage = stage(vec![outer.code([Ins::Call { site: 0 }, Ins::Return]), inner]);
    let robot = stage.robot();
    assert_eq!(stage.call(robot, "outer", &[]), Ok(None));
    let _staging = stage.world.mode.enter(mode::REBUILDING);
    let error = stage.call(robot, "outer", &[]).unwrap_err().to_string();
    assert!(error.contains("calling /Script/Game.Robot:inner is refused before the commit"), "{error}");
}

#[test]
fn an_incomplete_custom_thunk_is_an_error_with_a_parameter_block_too() {
    let mut half = FunctionDecl::new("half", native_thunk(|_, frame| frame.take::<i32>().map(drop)));
    half.flags = function_flags::STATIC | function_flags::CALLABLE | function_flags::CUSTOM_THUNK;
    half.params = vec![PropertyDecl::new("a", PropertyKind::I32), PropertyDecl::result(PropertyKind::I32)];
    half.meta.push(("custom_thunk".to_owned(), String::new()));
    let stage = try_stage(Vec::new(), vec![half], Limits::default()).unwrap();
    let error = stage.run("half", &[Value::I32(1)]).unwrap_err();
    assert!(error.contains("the thunk of /Script/Game.Robot:half returned before it took all"), "{error}");
}

#[test]
fn out_values_are_written_back_before_the_result() {
    check(
        r#"
        var Robot Next; var int x;
        function int G(out int v) { v = 77; return 2; }
        function Robot NextOf(out int v) { v = 5; return Next; }
        function array<int> Three(out int v) { local array<int> a; a.Length = 3; a[0] = 1; v = 9; return a; }
        function H(out int v, out int w) { v = 7; w = 2; }
        function string T()
        {
            local array<int> b; local int i; local Robot o; local string s;

            b.Length = 4;
            i = G(b[i]);
            s = b[0] @ b[2] @ i;
            b.Length = 0; b.Length = 3; b[0] = 2; i = 0;
            i = b[i]++;
            s @= b[0] @ b[2] @ i;
            Next = new class'Robot';
            o = self;
            o = o.NextOf(o.x);
            s @= x @ o.x;
            b = Three(b[0]);
            s @= b[0] @ b.Length;
            i = 0;
            H(b[i], i);
            return s @ b[0] @ b[2] @ i;
        }
        "#,
        "T",
        "77 0 2 3 0 2 5 0 1 3 7 0 2",
    );
}

#[test]
fn an_omitted_fixed_array_parameter_has_its_elements() {
    check(
        "function int F(optional int fx[3]) { fx[1] = 4; return fx[1] + fx[2]; } function int T() { return F(); }",
        "T",
        "4",
    );
}

#[test]
fn a_thunk_writes_one_property_while_reading_a_copy_of_another() {
    check(
        r#"
        var map<string, int> M; var array<int> A;
        function string T() { A.Length = 4; map_add(M, "k", 8); return map_find(M, "k", A[3]) $ A[3]; }
        "#,
        "T",
        "True8",
    );
}

#[test]
fn an_added_item_may_be_an_element_of_the_same_array() {
    check(
        r#"
        struct Two { var int i, j; };
        var map<int, Two> M; var map<int, int> Q;
        function string T()
        {
            local array<string> l; local Two t; local int k;

            l.Length = 2;
            l[1] = "q";
            array_add(l, l[1]);
            array_insert(l, l[1], 0);
            array_set(l, 2, l[0]);
            t.i = 3; t.j = 4;
            map_add(M, 3, t);
            t.j = 0;
            map_find(M, t.i, t);
            map_add(Q, 5, 6);
            k = 5;
            map_find(Q, k, k);
            return l.Length $ l[0] $ l[2] $ l[3] $ t.j $ k;
        }
        "#,
        "T",
        "4qqq46",
    );
}

#[test]
fn an_array_is_sorted_by_what_a_variable_is_bound_to() {
    check(
        r#"
        delegate int Cmp(int a, int b);
        var delegate<Cmp> Own;
        function int Up(int a, int b) { return b - a; }
        function int Down(int a, int b) { return a - b; }
        function string T()
        {
            local array<int> a; local delegate<Cmp> d; local string s;

            a.AddItem(2); a.AddItem(3); a.AddItem(1);
            d = Up;
            a.Sort(d);
            s = a[0] $ a[1] $ a[2];
            Own = Down;
            a.Sort(Own);
            s @= a[0] $ a[1] $ a[2];
            Cmp = Up;
            a.Sort(Cmp);
            return s @ a[0] $ a[1] $ a[2];
        }
        "#,
        "T",
        "123 321 123",
    );
}

#[test]
fn copies_of_a_sort_count_towards_the_limit() {
    let limits = Limits { value: 1 << 20, ..Limits::default() };
    let body = "function int C(byte a, byte b) { return b - a; }\n\
        function int T() { local array<byte> a; a.Length = 1000000; a.Sort(C); return a.Length; }\n\
        function int Fine() { local array<byte> a; a.Length = 1000; a.Sort(C); return a.Length; }";
    let (scripts, robot) = robot_of(limits, body);
    assert!(scripts.outcome(robot, "T").starts_with("copies of all elements would take"));
    assert_eq!(scripts.outcome(robot, "Fine"), "1000");
}

#[test]
fn reading_small_elements_as_values_counts_towards_the_limit() {
    let limits = Limits { value: 1 << 20, ..Limits::default() };
    let row = "local array<byte> a; a.Length = 500000;";
    let body = format!(
        "struct Base {{ var array<byte> Row; }};\nstruct Derived extends Base {{ var int Count; }};\n\
         function string Shows() {{ {row} return string(a); }}\n\
         function int Lists() {{ local map<int, array<byte> > m; local array<array<byte> > all; {row}\n\
         m.Set(1, a); all = m.Values(); return all.Length; }}\n\
         function int Converts() {{ local Derived d; local Base b; {row} d.Row = a; b = d; return b.Row.Length; }}\n\
         function int Options() {{ local optional<array<byte> > o; {row} o = a; a.Length = 0; if (o.IsSet()) a = o.Get(); return a.Length; }}\n\
         function int Finds() {{ local map<int, array<byte> > m; {row} m.Set(1, a); a.Length = 0; a = m[1]; return a.Length; }}"
    );
    let (scripts, robot) = robot_of(limits, &body);
    for name in ["Shows", "Lists", "Converts"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.starts_with("copies of all elements would take"), "{name}: {outcome}");
    }
    // These operations copy each element directly, without a larger temporary value.
    for name in ["Options", "Finds"] {
        assert_eq!(scripts.outcome(robot, name), "500000", "{name}");
    }
}

#[test]
fn printed_containers_are_limited_by_the_length_of_their_text() {
    let limits = Limits { value: 1 << 20, ..Limits::default() };
    let structs: String = (1..30).map(|at| format!("struct S{at} {{ var array<S{}> a; }};\n", at - 1)).collect();
    let body = format!(
        "struct S0 {{ var int n; }};\n{structs}\
         function string Deep() {{ local S29 s; return string(s); }}\n\
         function string Names() {{ local array<name> a; local string s; local name n; local int i;\n\
         s = \"x\"; for (i = 0; i < 18; i++) s = s $ s; n = name(s); a.Length = 10000;\n\
         for (i = 0; i < 10000; i++) a[i] = n; return string(a); }}\n\
         function string Numbers() {{ local array<double> a; local int i;\n\
         a.Length = 5000; for (i = 0; i < 5000; i++) a[i] = 1.0e300; return string(a); }}"
    );
    let (scripts, robot) = robot_of(limits, &body);
    assert_eq!(scripts.outcome(robot, "Deep"), "(a=())");
    for name in ["Names", "Numbers"] {
        let outcome = scripts.outcome(robot, name);
        assert!(outcome.starts_with("a text would take"), "{name}: {outcome}");
    }
}

#[test]
fn each_copied_argument_counts_towards_the_limit() {
    let (size, count) = (1 << 20, 16);
    let limits = Limits { values: 4 * size, ..Limits::default() };
    let params: Vec<_> = (0..count).map(|at| format!("array<byte> p{at}")).collect();
    let body = format!(
        "function int Takes({}) {{ return 1; }}\n\
         function int T() {{ local array<byte> a; a.Length = {size}; return Takes({}); }}",
        params.join(", "),
        vec!["a"; count].join(", ")
    );
    let (scripts, robot) = robot_of(limits, &body);
    let outcome = scripts.outcome(robot, "T");
    let bytes = outcome.split(' ').find_map(|word| word.parse::<usize>().ok()).unwrap_or_else(|| panic!("{outcome}"));
    assert!(bytes < 6 * size, "{outcome}");
}

#[test]
fn sorts_inside_each_other_end_before_the_stack_does() {
    let (scripts, robot) = robot(
        "var array<int> P;\nfunction int Nest(int a, int b) { P.Sort(Nest); return b - a; }\n\
         function int T() { P.Length = 2; P[0] = 2; P.Sort(Nest); return 1; }",
    );
    assert!(scripts.outcome(robot, "T").contains("deep"));
}

#[test]
fn containers_of_a_class_default_object_are_read() {
    check(
        r#"
        var array<int> A; var map<string, int> M;
        function string T()
        {
            local int i, s;
            foreach default.A(i) s += i;
            return default.A.Length @ default.A.Find(5) @ class'Robot'.default.A.Find(7) @ s @ default.M.Contains("x");
        }
        defaultproperties
        {
            A(0)=4
            A(1)=5
        }
        "#,
        "T",
        "2 1 -1 9 False",
    );
}

#[test]
fn a_new_object_without_a_name_gets_a_unique_one() {
    check(
        r#"function bool T() { local Robot o; o = new(none, "None") class'Robot'; return string(o) != "None"; }"#,
        "T",
        "true",
    );
}

#[test]
fn new_objects_cost_rounds() {
    let limits = Limits { rounds: 1_000_000, ..Limits::default() };
    let body = "function int T() { local int i; for (i = 0; i < 100000; i++) new class'Robot'; return i; }";
    let (scripts, robot) = robot_of(limits, body);
    assert!(scripts.outcome(robot, "T").contains("never ends"));
}

#[test]
fn repeated_warnings_of_one_location_are_logged_once_and_counted() {
    let (scripts, robot) =
        robot("function int Tick(int a) { return 3 / a; }\nfunction int Other(int a) { return 3 / a; }");
    let lines = logged(|| {
        for _ in 0..250 {
            scripts.call(robot, "Tick", &[Value::I32(0)]).expect("it is zero");
        }
        scripts.call(robot, "Other", &[Value::I32(0)]).expect("it is zero");
    });
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].contains("a division by zero") && !lines[0].contains("times"), "{lines:#?}");
    assert!(lines[1].contains("(10 times by now)") && lines[2].contains("(100 times by now)"), "{lines:#?}");
    assert!(lines[3].contains("Robot:Other") && !lines[3].contains("times"), "another place: {lines:#?}");
}

#[test]
fn a_named_object_that_does_not_exist_at_load_is_reported() {
    let body = "function bool T() { return Machine'Town.Missing' == none; }";
    let lines = logged(|| check(body, "T", "true"));
    let reported = lines.iter().filter(|line| line.contains("Robot:T names the object Town.Missing"));
    assert_eq!(reported.count(), 1, "{lines:#?}");
}

#[test]
fn a_named_object_has_the_named_class() {
    let scripts = Scripts::new();
    let machine = scripts.load("Other", &[("Lathe.uc", "class Lathe extends Machine;")]).remove(0);
    let machine = scripts.object(&machine);
    scripts.world.objects.rename(machine, "Big", ObjectHandle::NONE).expect("the name is free");
    let text = "class Robot extends Machine;
        function bool AsBase() { return Machine'Town.Big' == none; }
        function bool AsOther() { return Robot'Town.Big' == none; }";
    let class = scripts.load("Scripts", &[("Robot.uc", text)]).remove(0);
    let robot = scripts.object(&class);
    assert_eq!(["AsBase", "AsOther"].map(|function| scripts.outcome(robot, function)), ["false", "true"]);
}
