//! Values that change while a part of the value is borrowed.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use alcedo_plugin_api::__private::Passed;
use alcedo_plugin_api::prelude::*;

/// Containers that tests write to. Some of the written values are invalid for their container.
#[uclass(package = "Game", base = Object)]
pub struct Holder {
    /// Nested arrays of strings.
    #[uproperty]
    rows: UArray<UArray<UString>>,
    /// Strings with one byte per character.
    #[uproperty]
    latin: UArray<UAnsiString>,
    /// Set of strings with one byte per character.
    #[uproperty]
    latin_set: USet<UAnsiString>,
    /// Map of strings with one byte per character.
    #[uproperty]
    latin_map: UMap<UAnsiString, UAnsiString>,
    /// Optional string with one byte per character.
    #[uproperty]
    latin_optional: UOptional<UAnsiString>,
    /// Strings that are added while the array is iterated.
    #[uproperty]
    texts: UArray<UString>,
    /// Keys that are added while the set is iterated.
    #[uproperty]
    keys: USet<UString>,
    /// Entries that are added while the map is iterated.
    #[uproperty]
    entries: UMap<UString, UString>,
    /// Keys with fields.
    #[uproperty]
    labels: USet<Label>,
    /// Map whose keys and values have fields.
    #[uproperty]
    label_map: UMap<Label, Label>,
    /// Keys that are object references.
    #[uproperty]
    soft: USet<SoftObject<Object>>,
    /// Keys that are class references.
    #[uproperty]
    soft_classes: USet<SoftClass<Object>>,
    /// Localizable keys.
    #[uproperty]
    titles: USet<UText>,
    /// Set of keys that are hashed by code of the plugin author.
    #[uproperty]
    points: USet<Point>,
    /// Array of sets of points.
    #[uproperty]
    point_sets: Vec<HashSet<Point>>,
    /// Map of sets of points.
    #[uproperty]
    point_map: UMap<u64, HashSet<Point>>,
    /// Numbers that are borrowed as slices.
    #[uproperty]
    numbers: UArray<u64>,
    /// Weak reference to a host object.
    #[uproperty]
    friend: WeakObject<Object>,
    /// Reference to a class.
    #[uproperty]
    class: SoftClass<Object>,
    /// Reference to a property.
    #[uproperty]
    field: FieldPath,
    /// Listeners.
    #[uproperty]
    listeners: MulticastDelegate<fn()>,
    kept: Option<UArray<u64>>,
}

/// Key whose fields are used in place.
#[ustruct(package = "Game")]
pub struct Label {
    /// Simple field.
    name: UString,
    /// Number field.
    number: u64,
    /// Nested struct.
    inner: Inner,
}

/// Nested struct of a key.
#[ustruct(package = "Game")]
pub struct Inner {
    /// String used in place.
    name: UString,
    /// String that each access copies.
    text: String,
}

thread_local! {
    /// Holder whose points are replaced when the next point is hashed.
    static CLEARED: Cell<Obj<Holder>> = const { Cell::new(Obj::none()) };
}

/// Point with a `Hash` implementation that has side effects.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Horizontal coordinate.
    pub x: u64,
    /// Tag of the point.
    pub label: u64,
}

impl Hash for Point {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let _gone = CLEARED.get().with(|holder| {
            holder.points().clear();
            (0..1_000).for_each(|x| drop(holder.points().try_insert(Point { x, label: 9 })));
            holder.rows().assign([["gone", "gone"]]);
            holder.set_point_sets(vec![HashSet::new(); 4]);
            holder.point_map().extend((0..4_u64).map(|key| (key, HashSet::<Point>::new())));
        });
        self.x.hash(hasher);
    }
}

/// Returns the number of points, and the strings.
#[zcall(ex = "attacker.arguments")]
fn arguments(points: HashSet<Point>, row: Vec<String>) -> String {
    format!("{} {row:?}", points.len())
}

/// Returns the error message, or `done`.
fn format_result<T>(outcome: Result<T, CallError>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_done| "done".to_owned())
}

#[uclass]
impl Holder {
    /// Assigns an element of a row to the row itself. The host copies the element before it overwrites the row.
    #[ufunction(blueprint_callable)]
    fn part_of_itself(&self, this: This<Self>) -> String {
        let rows = this.rows();
        rows.assign([["one", "two"], ["three", "four"]]);
        let two = rows.get(0).and_then(|row| row.get(1)).expect("present");
        let outcome = format_result(rows.try_set(0, [two]));
        format!("{outcome} {rows}")
    }

    /// Writes two views to a row. One view is valid, the other refers to a value that has moved.
    #[ufunction(blueprint_callable)]
    fn expired_source(&self, this: This<Self>) -> String {
        let rows = this.rows();
        rows.assign([["one"], ["two"]]);
        let old = rows.get(0).and_then(|row| row.get(0)).expect("present");
        let before = rows.to_string();
        rows.get(0).expect("present").clear();
        rows.get(0).expect("present").push("one");
        let good = rows.get(1).and_then(|row| row.get(0)).expect("present");
        let outcomes = [
            format_result(rows.try_set(1, [&good, &old])),
            format_result(rows.get(1).expect("present").try_extend([&good, &old])),
            format_result(rows.get(1).expect("present").try_insert(0, &old)),
        ];
        assert!(outcomes.iter().all(|outcome| outcome.contains("expired")), "{outcomes:?}");
        assert_eq!(rows.to_string(), before);
        outcomes[0].clone()
    }

    /// Writes several values through every function that accepts several values. One of the values is invalid.
    #[ufunction(blueprint_callable)]
    fn half_a_write(&self, this: This<Self>) -> String {
        let (array, set, map, one) = (this.latin(), this.latin_set(), this.latin_map(), this.latin_optional());
        array.assign(["a", "b"]);
        set.assign(["a", "b"]);
        map.assign([("a", "1"), ("b", "2")]);
        one.set("a");
        let now = || format!("{array} {set} {map} {one}");
        let before = now();
        let view = array.get(0).expect("present");
        let euro = "\u{20ac}";
        let refused = [
            format_result(array.try_assign(["c", euro])),
            format_result(array.try_assign(vec!["c", "d", "e", euro])),
            format_result(array.try_extend(["c", euro])),
            format_result(array.try_insert(0, euro)),
            format_result(array.try_set(0, euro)),
            format_result(set.try_assign(["c", euro])),
            format_result(set.try_extend(["c", euro])),
            format_result(set.try_insert(euro)),
            format_result(map.try_assign([("c", "3"), ("d", euro)])),
            format_result(map.try_assign([("c", "3"), (euro, "4")])),
            format_result(map.try_extend([("a", "9"), ("c", "3"), ("b", euro)])),
            format_result(map.try_extend([("a", "9"), ("c", "3"), (euro, "4")])),
            format_result(map.try_insert("a", euro)),
            format_result(map.try_insert(euro, "4")),
            format_result(one.try_set(euro)),
            format_result(one.try_assign(Some(euro))),
        ];
        for (at, outcome) in refused.iter().enumerate() {
            assert!(outcome.contains("UAnsiString cannot hold"), "{at}: {outcome}");
        }
        assert_eq!(now(), before);
        assert_eq!(view.text(), "a", "a refused write has moved an element");
        map.extend([("a", "9"), ("c", "3"), ("c", "4")]);
        array.extend(["c"]);
        set.extend(["c", "a"]);
        now()
    }

    /// Appends to an array during iteration, and checks views of earlier elements.
    #[ufunction(blueprint_callable)]
    fn grow_an_array(&self, this: This<Self>) -> String {
        this.texts().assign(["first"]);
        let mut seen = 0;
        let mut stale = 0;
        let mut old = Vec::new();
        for text in this.texts().iter() {
            assert_eq!(text.text(), if seen == 0 { "first" } else { "more" });
            seen += 1;
            if seen < 1_000 {
                this.texts().push("more");
            }
            stale += old.iter().filter(|view: &&Borrowed<'_, UString>| view.is_expired()).count().min(1);
            old = vec![text];
        }
        format!("{seen} seen, {}", if stale > 0 { "some had moved" } else { "none had moved" })
    }

    /// Inserts into a set during iteration.
    #[ufunction(blueprint_callable)]
    fn grow_a_set(&self, this: This<Self>) {
        this.keys().assign(["first"]);
        for (at, _key) in this.keys().iter().enumerate() {
            this.keys().extend((0..1_000).map(|more| format!("{at}.{more}")));
        }
    }

    /// Inserts into a map during iteration.
    #[ufunction(blueprint_callable)]
    fn grow_a_map(&self, this: This<Self>) {
        this.entries().assign([("first", "value")]);
        for (at, _entry) in this.entries().iter().enumerate() {
            this.entries().extend((0..1_000).map(|more| (format!("{at}.{more}"), "value")));
        }
    }

    /// Destroys the object that owns an array, during iteration over the array.
    #[ufunction(blueprint_callable)]
    fn destroy_what_is_walked(&self, this: This<Self>) {
        let other: Obj<Self> = this.spawn(Obj::none()).expect("spawned");
        let view = this.get(other).expect("alive");
        view.texts().assign(["one", "two", "three"]);
        for _text in view.texts().iter() {
            view.destroy().expect("alive");
        }
    }

    /// Fills the containers. The test then sets their epoch counters close to the maximum.
    #[ufunction(blueprint_callable)]
    fn fill(&self, this: This<Self>) {
        this.texts().assign(["one", "two"]);
        this.keys().assign(["one", "two"]);
        this.numbers().assign([1, 2, 3]);
    }

    /// Uses a container whose epoch counter is close to overflow. Tests views before and after each change, and then other operations.
    #[ufunction(blueprint_callable)]
    fn count_to_the_end(&self, this: This<Self>) -> String {
        let texts = this.texts();
        let mut lines = Vec::new();
        for _change in 0..4 {
            let view = texts.get(0).expect("present");
            let fresh = format_result(view.try_text());
            texts.remove(1);
            texts.push("two");
            lines.push(format!("{fresh} / {}", format_result(view.try_text())));
        }
        lines.push(format!("{} {}", texts.len(), this.numbers().iter().sum::<u64>()));
        let kept = texts.to_vec().len();
        lines.push(format!("{kept} copied"));
        lines.join("\n")
    }

    /// Borrows the numbers as a slice, and logs during the borrow. Returns the numbers before and after the log line.
    #[ufunction(blueprint_callable)]
    fn lend(&self, this: This<Self>) -> String {
        this.numbers().assign(vec![11_u64; 64]);
        this.numbers().with_slice(|numbers| {
            let before = (numbers.len(), numbers[0], numbers[63]);
            tracing::info!(target: "attack", "a slice is lent");
            format!("{before:?} {:?}", (numbers.len(), numbers[0], numbers[63]))
        })
    }

    /// Borrows the numbers as a mutable slice, and logs during the borrow. The log handlers can neither read nor write the array.
    #[ufunction(blueprint_callable)]
    fn borrow_to_write(&self, this: This<Self>) -> String {
        this.numbers().assign(vec![11_u64; 64]);
        this.numbers().with_slice_mut(|numbers| {
            numbers[0] = 12;
            tracing::info!(target: "attack", "a slice is lent that may be written");
            numbers[63] = 13;
        });
        let numbers = this.numbers();
        format!("{:?}", (numbers.len(), numbers.get(0), numbers.get(63)))
    }

    /// Panics while a slice is borrowed.
    #[ufunction(blueprint_callable)]
    fn panic_while_lending(&self, this: This<Self>) {
        this.numbers().assign([1]);
        this.numbers().with_slice_mut(|_numbers| panic!("with a slice"));
    }

    /// Inserts a map value as a new key into its own map, at a moment when the map must reallocate.
    #[ufunction(blueprint_callable)]
    fn value_as_key(&self, this: This<Self>) -> String {
        let entries = this.entries();
        for key in ["a", "b", "c", "d"] {
            entries.insert(key, key);
        }
        let value = entries.get("a").expect("present");
        value.set("a text that equals no key, and is too long to lie in the row");
        entries.insert(&value, "x");
        format!("{} {:?}", entries.len(), entries.get("a text that equals no key, and is too long to lie in the row"))
    }

    /// Adds a label of this name to the set and to the map.
    fn label(this: This<Self>, name: &str) {
        let label = Label::default();
        let view = this.open(&label);
        view.set_name(name);
        view.inner().set_text(name);
        this.labels().insert(&label);
        this.label_map().insert(&label, &label);
    }

    /// Tries every in-place write to a key or to a field of a key. Returns the keys after these attempts.
    #[ufunction(blueprint_callable)]
    fn write_keys(&self, this: This<Self>) -> String {
        let (labels, map) = (this.labels(), this.label_map());
        Self::label(this, "one");
        Self::label(this, "two");
        this.keys().assign(["one", "two"]);
        this.soft().assign([SoftObject::default()]);
        this.soft_classes().assign([SoftClass::default()]);
        this.titles().assign(["one"]);
        let before = (labels.to_string(), map.to_string(), this.keys().to_string());
        let mut refused = Vec::new();
        for (key, other) in labels.iter().zip(labels.iter().skip(1)).chain(map.keys().zip(map.keys().skip(1))) {
            refused.extend([
                format_result(key.try_set_name("two")),
                format_result(key.name().try_set("two")),
                format_result(key.name().parse("two")),
                format_result(key.name().try_assign("two")),
                format_result(key.name().try_assign(other.name())),
                format_result(key.try_set_number(7)),
                format_result(key.try_assign(&other)),
                format_result(key.parse(&other.to_string())),
                format_result(key.inner().try_set_name("two")),
                format_result(key.inner().name().try_set("two")),
                format_result(key.inner().try_set_text("two")),
                format_result(key.try_set_inner(other.inner().to_owned())),
                format_result(key.inner().try_assign(other.inner())),
            ]);
        }
        for key in this.keys().iter() {
            refused.extend([
                format_result(key.try_set("two")),
                format_result(key.parse("two")),
                format_result(key.try_assign("two")),
            ]);
        }
        for key in this.soft().iter() {
            refused.extend([
                format_result(key.try_set(this.as_obj().as_object())),
                format_result(key.parse("/Game/There")),
            ]);
        }
        for key in this.soft_classes().iter() {
            refused.push(format_result(key.parse("/Script/Game.Holder")));
        }
        for key in this.titles().iter() {
            refused.extend([format_result(key.try_set("two")), format_result(key.to_conjugate().map(drop))]);
        }
        assert!(refused.pop().is_some_and(|message| message.contains("cannot be lent")), "a key has no number");
        for (at, message) in refused.iter().enumerate() {
            assert!(message.contains("in a key cannot be changed in place"), "{at}: {message}");
        }
        assert_eq!((labels.to_string(), map.to_string(), this.keys().to_string()), before);
        for value in map.values() {
            value.name().set("a value may be");
            value.inner().set_name("changed");
        }
        let key = labels.iter().next().expect("present").to_owned();
        assert!(labels.remove(&key));
        this.open(&key).set_name("changed");
        assert!(labels.insert(&key) && labels.contains(&key));
        format!("{} refused, {}: {}", refused.len(), labels.len(), refused[0])
    }

    /// Calls the common name of all delegates with typed arguments, although this name has no signature. Passes no delegate.
    #[ufunction(blueprint_callable)]
    fn typed_call_of_a_delegate(&self, this: This<Self>) -> String {
        format_result(
            this.zcall::<_, UString>("nd:/", (7_u64, "a text".to_owned(), UArray::of(vec![1_u64]).expect("a host"))),
        )
    }

    /// Writes a key through functions that cannot return an error. The refused write must end the call.
    #[ufunction(blueprint_callable)]
    fn write_a_key(&self, this: This<Self>, method: u32) {
        this.keys().assign(["one"]);
        this.soft().assign([SoftObject::default()]);
        this.soft_classes().assign([SoftClass::default()]);
        this.titles().assign(["one"]);
        let key = this.keys().iter().next().expect("present");
        match method {
            0 => key.push_str("s"),
            1 => key.set("two"),
            2 => this.soft().iter().next().expect("present").set_path("/Game/There"),
            3 => this.soft().iter().next().expect("present").clear(),
            4 => this.soft_classes().iter().next().expect("present").set("/Script/Game.Holder"),
            _ => this.titles().iter().next().expect("present").set_localized(UName::NONE, UName::NONE, "two"),
        }
    }

    /// Tries in-place writes to keys. Then repeatedly removes keys, and lets the set grow.
    #[ufunction(blueprint_callable)]
    fn keys_that_change(&self, this: This<Self>) -> String {
        let keys = this.keys();
        for round in 0..8 {
            for at in 0..200 {
                keys.insert(format!("a key of round {round}, number {at}, in a block of its own").as_str());
            }
            let last: Vec<_> = keys.iter().skip(150).collect();
            for (at, key) in last.iter().enumerate() {
                let _outcome = key.try_set(&format!("changed in round {round}, number {at}, in a block of its own"));
            }
            if let Some(key) = keys.iter().next() {
                let _outcome = key.try_set("another");
                let _outcome = keys.try_insert(&key);
            }
            for at in 0..150 {
                let _outcome =
                    keys.try_remove(format!("a key of round {round}, number {at}, in a block of its own").as_str());
            }
        }
        keys.clear();
        keys.insert("one");
        format!("{} {keys}", keys.len())
    }

    /// Copies points into a std set. Hashing a point clears the container from which the points are copied.
    #[ufunction(blueprint_callable)]
    fn hash_that_clears(&mut self, this: This<Self>) {
        for x in 0..40 {
            this.points().insert(Point { x, label: 7 });
        }
        timer::after(this, std::time::Duration::ZERO, |this| {
            CLEARED.set(this.as_obj());
            let copied = this.points().to_hash_set();
            CLEARED.set(Obj::none());
            this.texts().assign([format!("{} of {}", copied.len(), this.points().len())]);
        });
    }

    /// Copies sets of points out of an array and out of a map. Hashing the first point empties the sets.
    #[ufunction(blueprint_callable)]
    fn hash_that_empties_sets(&self, this: This<Self>) {
        timer::after(this, std::time::Duration::ZERO, |this| {
            let sets = [0, 1, 2, 3].map(|x| HashSet::from([Point { x, label: 7 }]));
            let fill = || {
                this.set_point_sets(sets.to_vec());
                this.point_map().assign([(0_u64, &sets[0]), (1, &sets[1]), (2, &sets[2]), (3, &sets[3])]);
                CLEARED.set(this.as_obj());
            };
            fill();
            let mut lens: Vec<usize> = this.point_sets().iter().map(HashSet::len).collect();
            CLEARED.set(Obj::none());
            fill();
            lens.extend(this.point_map().to_vec().iter().map(|(_key, set)| set.len()));
            CLEARED.set(Obj::none());
            let left: usize = this.point_sets().iter().map(HashSet::len).sum();
            let answer = format!("{lens:?}, {left} left");
            this.texts().assign([answer]);
        });
    }

    /// Passes a set of points and a row in the caller's memory to a function. Hashing the point overwrites the row.
    #[ufunction(blueprint_callable)]
    fn hash_that_overwrites_an_argument(&self, this: This<Self>) {
        timer::after(this, std::time::Duration::ZERO, |this| {
            let points = HashSet::from([Point { x: 1, label: 7 }]);
            this.rows().assign([["one", "two"]]);
            let row = Passed::<UArray<UString>, _>::new(this.rows().get(0).expect("present"));
            CLEARED.set(this.as_obj());
            let answer: Result<String, CallError> = this.zcall("ex:/attacker.arguments", (points, row));
            CLEARED.set(Obj::none());
            let answer = answer.unwrap_or_else(|error| error.to_string());
            this.texts().assign([answer, this.rows().to_string()]);
        });
    }

    /// Logs a line while nothing is borrowed.
    #[ufunction(blueprint_callable)]
    fn log(&self) {
        tracing::info!(target: "attack", "nothing is lent");
    }

    /// Stores an owned value in the plugin part, and returns the value's number.
    #[ufunction(blueprint_callable)]
    fn keep(&mut self) -> u64 {
        let kept = UArray::of(vec![7_u64; 64]).expect("a host");
        let number = AnyConjugate::of(&kept).number();
        self.kept = Some(kept);
        number
    }

    /// Creates values that are never dropped.
    #[ufunction(blueprint_callable)]
    fn forget(&self) {
        std::mem::forget(UArray::of(vec![1_u64]).expect("a host"));
        std::mem::forget(UString::of("forgotten").expect("a host"));
    }

    /// Returns the sum of the numbers in the stored value.
    #[ufunction(blueprint_callable)]
    fn sum(&self, this: This<Self>) -> u64 {
        self.kept.as_ref().map_or(0, |kept| this.open(kept).with_slice(|kept| kept.iter().sum()))
    }

    /// Creates a chain of `depth` objects. Each object is the outer of the next object.
    #[ufunction(blueprint_callable)]
    fn nest(&self, this: This<Self>, depth: u32) -> Obj<Object> {
        let first: Obj<Holder> = this.spawn(Obj::none()).expect("spawned");
        let mut outer = first.as_object();
        for _ in 1..depth {
            outer = this.spawn::<Holder>(outer).expect("spawned").as_object();
        }
        first.as_object()
    }
}
