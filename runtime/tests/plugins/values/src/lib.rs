//! Every kind of value as a property, a parameter, a result, a struct field, an element, and an owned value. Functions return the values as
//! a string, which the test compares.

#![forbid(unsafe_code)]

mod bell;
mod gauge;
#[cfg(feature = "listens")]
mod listens;
mod shelf;

use std::collections::{BTreeMap, HashSet};

use alcedo_plugin_api::prelude::*;

module! { name: "values" }

/// Location that is passed by value.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Spot {
    /// Horizontal coordinate.
    pub x: f64,
    /// Vertical coordinate.
    pub y: f64,
}

/// Struct that is used in place.
#[ustruct(package = "Game")]
pub struct Stats {
    /// A number.
    strength: f64,
    /// String that each access copies.
    motto: String,
    /// Strings, used in place.
    titles: UArray<String>,
    /// Optional location.
    spot: UOptional<Spot>,
    /// Strong reference.
    friend: Obj<Object>,
}

/// Object with one property of each kind.
#[uclass(package = "Game", blueprintable)]
pub struct Cabinet {
    /// UTF-16 string, used in place.
    #[uproperty(default = "empty")]
    title: UString,
    /// UTF-8 string.
    #[uproperty]
    wide: UUtf8String,
    /// String with one byte per character.
    #[uproperty]
    narrow: UAnsiString,
    /// Localizable string.
    #[uproperty]
    label: UText,
    /// A class of cabinets.
    #[uproperty]
    kind: SubclassOf<Cabinet>,
    /// Class of cabinets that may be declared later.
    #[uproperty(default = "/Script/Game.Later")]
    later: SoftClass<Cabinet>,
    /// Reference by path.
    #[uproperty]
    neighbor: SoftObject<Cabinet>,
    /// Reference by id.
    #[uproperty]
    twin: LazyObject<Cabinet>,
    /// Weak reference.
    #[uproperty]
    guest: WeakObject<Cabinet>,
    /// Numbers.
    #[uproperty]
    numbers: UArray<f64>,
    /// Nested arrays of strings.
    #[uproperty]
    rows: UArray<UArray<String>>,
    /// Locations.
    #[uproperty]
    spots: UArray<Spot>,
    /// Set of names.
    #[uproperty]
    tags: USet<UName>,
    /// Numbers by string.
    #[uproperty]
    ages: UMap<String, i32>,
    /// Arrays of structs by name.
    #[uproperty]
    groups: UMap<UName, UArray<Stats>>,
    /// Optional number.
    #[uproperty]
    best: UOptional<f64>,
    /// Predicate for a number.
    #[uproperty]
    decide: Delegate<fn(f64) -> bool>,
    /// Listeners for a string.
    #[uproperty]
    on_reported: MulticastDelegate<fn(String)>,
    /// Sparse listeners.
    #[uproperty]
    rarely: SparseDelegate<fn(UName, u32)>,
    /// A property.
    #[uproperty]
    watched: FieldPath,
    /// A struct.
    #[uproperty]
    stats: Stats,
    /// Array that each access copies.
    #[uproperty]
    copied: Vec<String>,
    /// Map that each access copies.
    #[uproperty]
    counts: BTreeMap<String, u32>,
    /// Set that each access copies.
    #[uproperty]
    unique: HashSet<u16>,
    /// Optional byte that each access copies.
    #[uproperty]
    perhaps: Option<u8>,

    received: Vec<String>,
    own: Own,
}

/// Owned values in a plain field of the plugin part.
#[derive(Default)]
struct Own {
    numbers: Option<UArray<f64>>,
    stats: Option<Stats>,
    words: Vec<UString>,
}

#[uclass]
impl Cabinet {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        assert!(!fixture::on!("failing"), "this build does not come up");
        Self { received: Vec::new(), own: Own::default() }
    }

    /// Returns the number of this build.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Uses strings of every kind.
    #[ufunction]
    fn texts(&self, this: This<Self>) -> String {
        let before = this.title().text();
        this.title().set("a box");
        this.title().push_str(" of wood");
        this.set_wide("w\u{ee}de");
        this.narrow().set("n\u{e4}rrow");
        let quit = UName::of(&this, "quit").expect("a host");
        this.label().set_localized(UName::of(&this, "menu").expect("a host"), quit, "Quit");
        let refused = this.narrow().try_set("\u{20ac}").expect_err("not a one-byte character");
        assert_eq!(this.label().key(), quit);
        let copied = UText::default();
        let copied = this.open(&copied);
        copied.assign(this.label());
        assert_eq!(copied.key(), quit, "the copy has another key");
        copied.parse(&this.label().to_string()).expect("a printed string can be parsed");
        assert_eq!(
            (copied.text().as_str(), copied.key()),
            ("Quit", UName::default()),
            "the printed form is not the visible string"
        );
        format!(
            "{before} | {} | {} | {} | {} | {refused}",
            this.title(),
            this.wide(),
            this.narrow(),
            this.label().text()
        )
    }

    /// Grows, sorts, compares and copies arrays.
    #[ufunction]
    fn arrays(&self, this: This<Self>) -> String {
        let numbers = this.numbers();
        numbers.assign([3.0, 1.0, 2.0]);
        numbers.insert(1, 5.0);
        numbers.with_slice_mut(|numbers| numbers.sort_by(f64::total_cmp));
        let sum: f64 = numbers.with_slice(|numbers| numbers.iter().sum());
        assert_eq!((numbers.remove(0), numbers.pop(), numbers.to_vec()), (1.0, Some(5.0), vec![2.0, 3.0]));
        assert!(numbers.contains(3.0) && numbers.equals([2.0, 3.0]).expect("both values are alive"));
        this.rows().assign([vec!["a"], vec!["b", "c"]]);
        this.rows().get(0).expect("two rows").push("d");
        this.spots().push(Spot { x: 1.0, y: 2.0 });
        this.spots().with_slice_mut(|spots| spots[0].x = 4.0);
        assert_eq!(this.spots().get(0), Some(Spot { x: 4.0, y: 2.0 }));
        format!("{sum} | {numbers} | {} | {}", this.rows(), this.spots())
    }

    /// Uses sets, maps and optionals.
    #[ufunction]
    fn keyed(&self, this: This<Self>) -> String {
        let name = |text| UName::of(&this, text).expect("a host");
        let (tags, ages, best) = (this.tags(), this.ages(), this.best());
        assert!(tags.insert(name("red")) && tags.insert(name("round")) && !tags.insert(name("red")));
        assert!(tags.remove(name("red")) && !tags.contains(name("red")));
        ages.assign([("Ada", 36), ("Alan", 41)]);
        assert!(!ages.insert("Ada", 37) && ages.insert("Eve", 5));
        assert_eq!((ages.get("Ada"), ages.remove("Alan"), ages.get("Alan")), (Some(37), Some(41), None));
        best.set(1.5);
        assert_eq!((best.take(), best.is_none()), (Some(1.5), true));
        best.assign(Some(2.5));
        this.groups().insert(name("first"), Vec::<Stats>::new());
        let group = this.groups().get(name("first")).expect("just inserted");
        group.push(Stats::new().expect("a host"));
        group.get(0).expect("just pushed").set_strength(3.0);
        group.get(0).expect("just pushed").titles().push("king");
        format!("{tags} | {ages} | {best} | {}", this.groups())
    }

    /// Uses a struct in place.
    #[ufunction]
    fn structs(&self, this: This<Self>) -> String {
        let stats = this.stats();
        stats.set_strength(1.5);
        stats.set_motto("onwards");
        stats.set_titles(["first", "second"]);
        stats.spot().set(Spot { x: 1.0, y: 2.0 });
        stats.set_friend(this.as_base().as_obj());
        let copy = stats.to_owned();
        stats.titles().clear();
        assert!(this.stats() != copy && this.open(&copy).titles().len() == 2);
        stats.assign(&copy);
        assert!(this.stats() == copy);
        format!("{} | {} | {}", stats.strength(), stats.motto(), stats.titles())
    }

    /// Uses properties with std types.
    #[ufunction]
    fn std_types(&self, this: This<Self>) -> String {
        this.set_copied(vec!["a".to_owned(), "b".to_owned()]);
        this.set_counts(BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1)]));
        this.set_unique(HashSet::from([7]));
        this.set_perhaps(Some(3));
        format!("{:?} {:?} {:?} {:?}", this.copied(), this.counts(), this.unique(), this.perhaps())
    }

    /// Sets references to another cabinet. Then destroys the other cabinet.
    #[ufunction]
    fn references(&self, this: This<Self>, other: Obj<Cabinet>) -> String {
        this.neighbor().set(other);
        this.twin().set(other);
        this.guest().set(other);
        assert_eq!((this.neighbor().obj(), this.twin().obj(), this.guest().obj()), (other, other, other));
        let neighbor = this.neighbor().get(&this).expect("alive");
        assert_eq!(neighbor.path(), this.neighbor().path());
        this.get(other).expect("alive").destroy().expect("the host allows the destruction");
        let gone = [this.neighbor().is_none(), this.twin().is_none(), this.guest().is_none()];
        format!("{gone:?} {} {}", this.twin().id() != 0, this.neighbor().path().is_empty())
    }

    /// Uses references to classes by path.
    #[ufunction]
    fn classes(&self, this: This<Self>) -> String {
        let refused =
            this.kind().try_set("/Script/Game.Nothing").expect_err("no such class").kind() == FailureKind::NOT_FOUND;
        this.kind().set_class::<Cabinet>();
        assert_eq!(this.later().path(), "/Script/Game.Later", "the declared default");
        this.later().set("/Script/Game.Latest");
        let made = this.kind().spawn(&this, Obj::none()).expect("a cabinet");
        let class = this.get(made).expect("alive").class_path();
        format!("{refused} {} {class} {} {}", this.kind().path(), this.later().path(), this.later().is_none())
    }

    /// Target of `decide`.
    #[ufunction]
    fn is_large(&self, number: f64) -> bool {
        number > 10.0
    }

    /// Listener of `on_reported`.
    #[ufunction]
    fn hear(&mut self, text: String) {
        self.received.push(text);
    }

    /// Listener of `rarely`.
    #[ufunction]
    fn hear_rarely(&mut self, this: This<Self>, name: UName, times: u32) {
        self.received.push(format!("{} {times}", name.text(&this)));
    }

    /// Binds, calls and unbinds delegates.
    #[ufunction]
    fn delegates(&mut self, this: This<Self>) -> String {
        let me = this.as_obj();
        assert_eq!(this.decide().call((1.0,)).expect_err("nothing is bound").kind(), FailureKind::NOT_FOUND);
        let refused = this.decide().try_bind(me, "hear").expect_err("the signatures differ").kind();
        assert_eq!(refused, FailureKind::SIGNATURE);
        this.decide().bind(me, "is_large");
        this.on_reported().bind(me, "hear");
        this.on_reported().bind(me, "hear");
        this.rarely().bind(me, "hear_rarely");
        assert_eq!((this.on_reported().len(), this.rarely().len()), (1, 1));
        let red = UName::of(&this, "red").expect("a host");
        let answers = this.lend(self, |this| {
            this.on_reported().broadcast(("news".to_owned(),));
            this.rarely().broadcast((red, 2));
            [this.decide().call((1.0,)).expect("bound"), this.decide().call((11.0,)).expect("bound")]
        });
        assert!(!this.on_reported().unbind(Obj::<Object>::none(), "hear"), "no object is bound");
        assert!(!this.on_reported().unbind(me, ""), "no function has an empty name");
        assert!(this.on_reported().unbind(me, "hear") && this.decide().unbind() && this.rarely().unbind_all(me) == 1);
        assert!(!this.on_reported().is_bound() && !this.decide().is_bound() && !this.rarely().is_bound());
        format!("{answers:?} {:?}", self.received)
    }

    /// Uses a property by path.
    #[ufunction]
    fn field_paths(&self, this: This<Self>) -> String {
        let field = this.watched();
        let refused = field.try_set("/Script/Game.Cabinet:nothing").expect_err("no such property").kind();
        assert_eq!(refused, FailureKind::NOT_FOUND);
        field.set("/Script/Game.Cabinet:perhaps");
        field.write(this.as_obj(), &Some(9_u8)).expect("an optional");
        let read: Option<u8> = field.read(this.as_obj()).expect("an optional");
        format!("{} {} {read:?}", field.path(), field.type_text())
    }

    /// Takes borrowed arguments, and returns an owned value.
    #[ufunction]
    fn longest(
        &self,
        rows: Borrowed<UArray<UArray<String>>>,
        title: Borrowed<UString>,
        more: Vec<String>,
    ) -> UArray<String> {
        let mut longest = more;
        for row in &rows {
            if row.len() > longest.len() {
                longest = row.to_vec();
            }
        }
        longest.push(title.text());
        longest.into()
    }

    /// Calls `longest`.
    #[ufunction]
    fn calls(&self, this: This<Self>) -> String {
        this.rows().assign([vec!["a"], vec!["b", "c"]]);
        let title = UString::of("end").expect("a host");
        let one = this.longest(this.rows(), &title, vec![]);
        let other = this.longest(this.rows(), "end", vec!["x".to_owned(), "y".to_owned(), "z".to_owned()]);
        format!("{one} {other}")
    }

    /// Takes and returns a struct.
    #[ufunction]
    fn stronger(&self, this: This<Self>, stats: Borrowed<Stats>, by: f64) -> Stats {
        let stronger = stats.to_owned();
        let view = this.open(&stronger);
        view.set_strength(view.strength() + by);
        stronger
    }

    /// Calls `stronger`.
    #[ufunction]
    fn calls_with_structs(&self, this: This<Self>) -> String {
        this.stats().set_strength(1.0);
        let once = this.stronger(this.stats(), 2.0);
        let twice = this.stronger(&once, 4.0);
        format!("{} {}", this.stats().strength(), this.open(&twice).strength())
    }

    /// Clones properties into owned values that outlive the call.
    #[ufunction]
    fn keep(&mut self, this: This<Self>) {
        this.numbers().assign([1.0, 2.0]);
        this.stats().set_strength(7.0);
        self.own.numbers = Some(this.numbers().to_owned());
        self.own.stats = Some(this.stats().to_owned());
        self.own.words = ["one", "two"].map(UString::from).into();
    }

    /// Returns the owned values that `keep` has stored. Then appends to one of them.
    #[ufunction]
    fn kept(&self, this: This<Self>) -> String {
        let Own { numbers: Some(numbers), stats: Some(stats), words } = &self.own else { return "nothing".to_owned() };
        this.open(numbers).push(9.0);
        assert!(
            numbers.is_black() && !numbers.is_expired() && this.open(numbers).is_black() && !this.numbers().is_black()
        );
        format!("{numbers} | {} | {words:?}", this.open(stats).strength())
    }

    /// Creates several kinds of values and drops them on new threads.
    #[ufunction]
    fn drops_on_threads(&mut self, this: This<Self>, count: u32) {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let values = (
                    UArray::of([f64::from(number)]).expect("a host"),
                    UMap::of([("key", number)]).expect("a host") as UMap<String, u32>,
                    this.stats().to_owned(),
                    this.groups().to_owned(),
                    UString::from("text"),
                );
                std::thread::spawn(move || {
                    let refused = values.0.try_clone().expect_err("not the game thread").kind();
                    assert_eq!(refused, FailureKind::WRONG_THREAD);
                    drop(values);
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("dropping does not panic");
        }
    }

    /// Uses views of elements that have moved, and views of properties of a destroyed object.
    #[ufunction]
    fn expires(&self, this: This<Self>) -> String {
        this.rows().assign([["a"], ["b"]]);
        let row = this.rows().get(0).expect("two rows");
        this.rows().insert(0, ["c"]);
        let grown = row.try_get(0).expect_err("the element has moved");
        let other = this.spawn::<Cabinet>(Obj::none()).expect("a cabinet");
        let view = this.get(other).expect("just spawned");
        let (numbers, stats) = (view.numbers(), view.stats());
        numbers.push(1.0);
        view.destroy().expect("the host allows the destruction");
        assert!(numbers.is_expired() && stats.is_expired() && row.is_expired() && !this.rows().is_expired());
        let dead = [
            numbers.try_push(1.0).expect_err("the owner was destroyed").kind(),
            numbers.try_get(0).expect_err("the owner was destroyed").kind(),
            stats.try_to_owned().expect_err("the owner was destroyed").kind(),
            grown.kind(),
        ];
        assert_eq!(dead, [FailureKind::EXPIRED; 4]);
        grown.to_string()
    }

    /// Uses an expired view through `push`, which returns no error. The failed use ends the call.
    #[ufunction]
    fn expires_uncaught(&self, this: This<Self>) {
        this.rows().assign([["a"]]);
        let row = this.rows().get(0).expect("a row");
        this.rows().clear();
        row.push("b");
    }

    /// Makes calls while a slice is borrowed.
    #[ufunction]
    fn lends(&self, this: This<Self>) -> String {
        this.numbers().assign([1.0]);
        this.numbers().with_slice(|_numbers| {
            tracing::info!("logging works during a borrow");
            [
                this.numbers().try_push(1.0).expect_err("a refused call"),
                this.spawn::<Cabinet>(Obj::none()).expect_err("a refused call"),
                this.try_set_perhaps(Some(1)).expect_err("a refused write"),
            ]
            .map(|error| (error.kind() == FailureKind::BORROWED).to_string())
            .join(" ")
        })
    }
}
