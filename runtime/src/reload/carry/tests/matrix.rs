//! Migrates values of every kind through every change of the property declaration. Compares the results with the table in
//! `docs/migration.md`.

use std::rc::Rc;

use super::tests::{Build, GONE, OBJECT, SAME, allocate, build, core, reload, set};
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::reload::changes::PropertyChange;

const PAGE: &str = include_str!("../../../../docs/migration.md");

/// Test case of one kind: its type, a default and an object's own value. Also contains a type that accepts this value, and a type that
/// rejects it. `FRIEND` in a value is a placeholder for a second object.
struct Row {
    kind: &'static str,
    words: &'static str,
    default: &'static str,
    own: &'static str,
    lossless: &'static str,
    lossy: &'static str,
}

const fn row(
    kind: &'static str,
    words: &'static str,
    (default, own): (&'static str, &'static str),
    (lossless, lossy): (&'static str, &'static str),
) -> Row {
    Row { kind, words, default, own, lossless, lossy }
}

const POINT: &str = "/Script/Test.Point";
const REFERENCE: &str = "Object(/Script/Game.Thing)";
const WEAK: &str = "WeakObject(/Script/Game.Thing)";
const INTERFACE: &str = "ScriptInterface(/Script/Game.Sings)";
const SUBCLASS: &str = "SubclassOf(/Script/Game.Thing)";
const SOFT_CLASS: &str = "SoftClass(/Script/Game.Thing)";
const SOFT: &str = "SoftObject(/Script/Game.Thing)";
const LAZY: &str = "LazyObject(/Script/Game.Thing)";

const ROWS: &[Row] = &[
    row("`u8`", "u8", ("1", "7"), ("i64", "bool")),
    row("`u16`", "u16", ("1", "300"), ("u32", "u8")),
    row("`u32`", "u32", ("1", "70000"), ("u64", "u16")),
    row("`u64`", "u64", ("1", "5000000000"), ("f64", "u32")),
    row("`i8`", "i8", ("1", "-7"), ("i16", "u8")),
    row("`i16`", "i16", ("1", "-300"), ("i32", "i8")),
    row("`i32`", "i32", ("1", "-70000"), ("i64", "i16")),
    row("`i64`", "i64", ("1", "-5000000000"), ("f64", "i32")),
    row("`f32`", "f32", ("1", "0.5"), ("f64", "i32")),
    row("`f64`", "f64", ("1", "0.1"), ("Optional(f64)", "f32")),
    row("`bool`", "bool", ("false", "true"), ("i32", "f64")),
    row("`String`", "String", ("a", "日本"), ("Utf8String", "AnsiString")),
    row("`Utf8String`", "Utf8String", ("a", "日本"), ("Text", "AnsiString")),
    row("`AnsiString`", "AnsiString", ("a", "größer"), ("String", "u8")),
    row("`Name`", "Name", ("a", "cube"), ("String", "u8")),
    row("`Text`", "Text", (r#"("a", "", "")"#, r#"("Open", "menu", "open")"#), ("Optional(Text)", "String")),
    row("enum", "Enum(/Script/Test.Mood)", ("Calm", "Angry"), ("Enum(/Script/Test.OtherMood)", "bool")),
    row("object", REFERENCE, ("none", "FRIEND"), (WEAK, "u64")),
    row("`SubclassOf`", SUBCLASS, ("none", OBJECT), (SOFT_CLASS, "u8")),
    row("`SoftClass`", SOFT_CLASS, ("none", OBJECT), (SUBCLASS, SOFT)),
    row("`SoftObject`", SOFT, ("none", "/World/door"), ("Optional(SoftObject(/Script/Game.Thing))", WEAK)),
    row(
        "`LazyObject`",
        LAZY,
        ("none", "00000000000000010000000000000002"),
        ("Optional(LazyObject(/Script/Game.Thing))", "u64"),
    ),
    row("`WeakObject`", WEAK, ("none", "FRIEND"), (REFERENCE, "u64")),
    row("`ScriptInterface`", INTERFACE, ("none", "FRIEND"), (REFERENCE, "u64")),
    row("struct", POINT, ("(a=1, b=0)", "(a=1, b=2)"), ("Optional(/Script/Test.Point)", "u8")),
    row("`Array`", "Array(u8)", ("(1)", "(1, 2)"), ("Set(i64)", "Array(bool)")),
    row("`Set`", "Set(u8)", ("(1)", "(1, 2)"), ("Array(i64)", "Set(bool)")),
    row("`Map`", "Map(Name, u8)", ("()", "((a, 7))"), ("Map(String, i32)", "Map(Name, bool)")),
    row("`Optional`", "Optional(u8)", ("none", "some(7)"), ("u8", "bool")),
    row("delegate", "Delegate()", ("none", "#900.1:open"), ("MulticastDelegate()", "u8")),
    row(
        "multicast delegate",
        "MulticastDelegate()",
        ("()", "(#900.1:open, #901.1:shut)"),
        ("SparseDelegate()", "Delegate()"),
    ),
    row(
        "sparse delegate",
        "SparseDelegate()",
        ("()", "(#900.1:open, #901.1:shut)"),
        ("MulticastDelegate()", "Delegate()"),
    ),
    row(
        "structs in an `Array`",
        "Array(/Script/Test.Point)",
        ("((a=1, b=0))", "((a=1, b=0), (a=1, b=2))"),
        ("Optional(Array(/Script/Test.Point))", "Array(u8)"),
    ),
    row(
        "structs in a `Map`, by an enum",
        "Map(Enum(/Script/Test.Mood), /Script/Test.Point)",
        ("()", "((Angry, (a=1, b=2)))"),
        ("Map(Enum(/Script/Test.OtherMood), /Script/Test.Point)", "Map(bool, /Script/Test.Point)"),
    ),
    row("field path", "FieldPath", ("none", "/Script/Game.Thing:part"), ("Optional(FieldPath)", "u8")),
];

/// Object that is migrated through several builds, with its current class.
struct Story {
    core: Rc<Core>,
    object: ObjectHandle,
    class: Rc<Class>,
}

impl Story {
    /// Creates the object and sets `own`, if any.
    fn begin(first: Build<'_>, own: Option<&str>) -> Self {
        let core = core();
        let thing = core.world.types.class_by_path(OBJECT).expect("it is declared");
        let friend = core.world.objects.allocate(&thing, None, ObjectHandle::NONE, 0);
        let class = build(&core, first, SAME);
        let object = allocate(&core, &class, 0);
        if let Some(own) = own {
            set(&core, object, &own.replace("FRIEND", &friend.to_string()));
        }
        Self { core, object, class }
    }

    /// Migrates the object to the next build of its class, and returns the changes.
    fn next(&mut self, next: Build<'_>) -> Vec<PropertyChange> {
        let (class, changes) = reload(&self.core, self.object, &self.class, next, SAME);
        self.class = class;
        changes
    }

    fn value(&self, name: &str) -> String {
        self.core.world.objects.read_value(self.object, name).expect("it is there").print(&self.core.world.names)
    }

    fn default(&self, name: &str) -> String {
        let cdo = self.class.cdo.get();
        self.core.world.objects.read_value(cdo, name).expect("it is there").print(&self.core.world.names)
    }
}

impl Row {
    fn build(&self) -> Build<'static> {
        (self.words, self.default).into()
    }

    /// Creates an object with a value that differs from the default. Returns the object and the value.
    fn own(&self) -> (Story, String) {
        let story = Story::begin(self.build(), Some(self.own));
        let value = story.value("x");
        assert_ne!(value, story.default("x"), "{}", self.words);
        (story, value)
    }

    fn added(&self) -> String {
        let mut story = Story::begin(GONE.into(), None);
        let changes = story.next(self.build());
        assert_eq!(story.value("x"), story.default("x"));
        assert_eq!(followed(&changes), (1, 0), "{changes:?}");
        "default".into()
    }

    fn removed(&self) -> String {
        let changes = self.own().0.next(GONE.into());
        word(&changes).to_owned()
    }

    fn returned(&self) -> String {
        let (mut story, own) = self.own();
        story.next(GONE.into());
        let changes = story.next(self.build());
        if story.value("x") == own { "own".into() } else { word(&changes).to_owned() }
    }

    fn lossless(&self) -> String {
        let (mut story, own) = self.own();
        let changes = story.next((self.lossless, "").into());
        let value = story.value("x");
        let same = value == own
            || [format!("some({own})"), format!("\"{own}\"")].contains(&value)
            || self.loses_quotes(&own, &value);
        assert!(same, "{}: {own} is {value} now", self.words);
        format!("`{}`: {}", short(self.lossless), word(&changes))
    }

    /// Checks if two values differ only in quotes, in the form of an optional, or in the form of a boolean.
    fn loses_quotes(&self, own: &str, value: &str) -> bool {
        let bare = |text: &str| text.replace(['"', '(', ')'], "").replace("some", "").replace("true", "1");
        bare(own) == bare(value)
    }

    fn lossy(&self) -> String {
        let (mut story, own) = self.own();
        let changes = story.next((self.lossy, "").into());
        assert_eq!(story.value("x"), story.default("x"), "{}", self.words);
        story.next(self.build());
        let back = if story.value("x") == own { ", own when it returns" } else { "" };
        format!("`{}`: {}{back}", short(self.lossy), word(&changes))
    }

    fn renamed(&self) -> String {
        let (mut story, own) = self.own();
        story.core.world.types.redirect("/Script/Game.Cube:x", "/Script/Game.Cube:y");
        let changes = story.next(Build { name: "y", ..self.build() });
        if story.value("y") == own { "own".into() } else { word(&changes).to_owned() }
    }

    fn new_default(&self) -> String {
        let (mut story, own) = self.own();
        let is_object = self.own.contains("FRIEND") || self.own.contains('#') || self.words == LAZY;
        // A default in a declaration cannot refer to an object.
        let default = if is_object { self.default } else { self.own };
        story.next((self.words, default).into());
        assert_eq!(story.value("x"), own);
        if is_object {
            return "own; none can be declared".into();
        }
        let mut plain = Story::begin(self.build(), None);
        let changes = plain.next((self.words, default).into());
        assert_eq!((plain.value("x"), followed(&changes)), (own, (1, 0)), "{changes:?}");
        "own; followed".into()
    }

    fn moved(&self) -> String {
        let (mut story, own) = self.own();
        let changes = story.next(Build { is_in_base: true, ..self.build() });
        if story.value("x") == own { "own".into() } else { word(&changes).to_owned() }
    }

    fn line(&self) -> String {
        let cells = [
            self.kind.to_owned(),
            self.added(),
            self.removed(),
            self.returned(),
            self.lossless(),
            self.lossy(),
            self.renamed(),
            self.new_default(),
            self.moved(),
        ];
        format!("| {} |\n", cells.join(" | "))
    }
}

fn short(words: &str) -> String {
    words.replace("/Script/Game.", "").replace("/Script/Test.", "")
}

/// Returns the number of values that follow the default, and the number of objects that keep their own value.
fn followed(changes: &[PropertyChange]) -> (u64, u64) {
    let sum = |of: fn(&PropertyChange) -> u64| changes.iter().map(of).sum();
    (sum(|change| change.followed), sum(|change| change.kept))
}

/// Returns the outcome that the report states for the object.
fn word(changes: &[PropertyChange]) -> &'static str {
    let has = |of: fn(&PropertyChange) -> u64| changes.iter().any(|change| of(change) != 0);
    match () {
        () if has(|change| change.dropped) => "dropped",
        () if has(|change| change.dormant) => "dormant",
        () if has(|change| change.defaulted) => "default",
        () if has(|change| change.converted) => "converted",
        () if has(|change| change.kept) => "kept",
        () if has(|change| change.followed) => "followed",
        () => "not listed",
    }
}

#[test]
fn every_kind_converts_as_documented() {
    let lines: String = ROWS.iter().map(Row::line).collect();
    let (_, table) =
        PAGE.split_once("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n").expect("the page has the table");
    let table: String =
        table.lines().take_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    assert!(table == lines, "the table should be:\n{lines}");
}

/// Fails if a new kind is missing from the table.
#[test]
fn every_kind_is_in_the_table() {
    use alcedo_abi::kinds::PropertyKind;
    let core = core();
    build(&core, GONE, SAME);
    let kinds: std::collections::BTreeSet<_> = ROWS
        .iter()
        .map(|row| crate::object::property::PropertyType::parse(row.words, &core.world.types).expect("a type").kind().0)
        .collect();
    let all = (0..=u8::MAX).map(PropertyKind).filter(|kind| kind.text().is_some_and(|text| text != "Toy"));
    let missing: Vec<_> = all.filter(|kind| !kinds.contains(&kind.0)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
