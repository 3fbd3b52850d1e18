//! Every kind of value that the host knows: as a property, a parameter, a result, a field of a struct, an element, and as
//! a value that plugin code keeps. What a value does is told as text, so that the host can compare it.

#![forbid(unsafe_code)]

mod bell;
mod gauge;
#[cfg(feature = "listens")]
mod listens;
mod shelf;

use std::collections::{BTreeMap, HashSet};

use alcedo_plugin_api::prelude::*;

module! { name: "values" }

/// A place, which travels by value.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Spot {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

/// What a cabinet is good at: a struct that is used where it lies.
#[ustruct(package = "Game")]
pub struct Stats {
    /// A number.
    strength: f64,
    /// A text, copied.
    motto: String,
    /// Texts, where they lie.
    titles: UArray<String>,
    /// A place, if any.
    spot: UOptional<Spot>,
    /// Somebody else.
    friend: Obj<Object>,
}

/// One property of each kind.
#[uclass(package = "Game", blueprintable)]
pub struct Cabinet {
    /// A text where it lies.
    #[uproperty(default = "empty")]
    title: UString,
    /// The same, told apart by others.
    #[uproperty]
    wide: UUtf8String,
    /// One byte a character.
    #[uproperty]
    narrow: UAnsiString,
    /// For people.
    #[uproperty]
    label: UText,
    /// A class of cabinets.
    #[uproperty]
    kind: SubclassOf<Cabinet>,
    /// A class of cabinets that may come later.
    #[uproperty]
    later: SoftClass<Cabinet>,
    /// Another one by path.
    #[uproperty]
    neighbor: SoftObject<Cabinet>,
    /// Another one by id.
    #[uproperty]
    twin: LazyObject<Cabinet>,
    /// Another one, as long as it is there.
    #[uproperty]
    guest: WeakObject<Cabinet>,
    /// Numbers.
    #[uproperty]
    numbers: UArray<f64>,
    /// Rows of texts.
    #[uproperty]
    rows: UArray<UArray<String>>,
    /// Places.
    #[uproperty]
    spots: UArray<Spot>,
    /// Names, each once.
    #[uproperty]
    tags: USet<UName>,
    /// Numbers by text.
    #[uproperty]
    ages: UMap<String, i32>,
    /// Rows of structs by name.
    #[uproperty]
    groups: UMap<UName, UArray<Stats>>,
    /// A number or none.
    #[uproperty]
    best: UOptional<f64>,
    /// Decides about a number.
    #[uproperty]
    decide: Delegate<fn(f64) -> bool>,
    /// Is told a text.
    #[uproperty]
    on_told: MulticastDelegate<fn(String)>,
    /// Is hardly ever told anything.
    #[uproperty]
    rarely: SparseDelegate<fn(UName, u32)>,
    /// A property.
    #[uproperty]
    watched: FieldPath,
    /// A struct.
    #[uproperty]
    stats: Stats,
    /// Copied in and out.
    #[uproperty]
    copied: Vec<String>,
    /// The same by text.
    #[uproperty]
    counts: BTreeMap<String, u32>,
    /// And each once.
    #[uproperty]
    unique: HashSet<u16>,
    /// And one or none.
    #[uproperty]
    perhaps: Option<u8>,

    heard: Vec<String>,
    own: Own,
}

/// What plugin code keeps of the host's memory, in a field like any other.
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
        Self { heard: Vec::new(), own: Own::default() }
    }

    /// Which build this is.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Writes the texts.
    #[ufunction]
    fn texts(&self, this: This<Self>) -> String {
        let before = this.title().text();
        this.title().set("a box");
        this.title().push_str(" of wood");
        this.set_wide("w\u{ee}de");
        this.narrow().set("n\u{e4}rrow");
        let quit = UName::of(&this, "quit").expect("a host");
        this.label().set_localized(UName::of(&this, "menu").expect("a host"), quit, "Quit");
        let refused = this.narrow().try_set("\u{20ac}").expect_err("no such byte");
        assert_eq!(this.label().key(), quit);
        let copied = UText::default();
        let copied = this.open(&copied);
        copied.assign(this.label());
        assert_eq!(copied.key(), quit, "a copy has the names");
        copied.parse(&this.label().to_string()).expect("it is a text");
        assert_eq!(
            (copied.text().as_str(), copied.key()),
            ("Quit", UName::default()),
            "what is printed is what people see"
        );
        format!(
            "{before} | {} | {} | {} | {} | {refused}",
            this.title(),
            this.wide(),
            this.narrow(),
            this.label().text()
        )
    }

    /// Arrays: grown, sorted where they lie, compared, copied.
    #[ufunction]
    fn arrays(&self, this: This<Self>) -> String {
        let numbers = this.numbers();
        numbers.assign([3.0, 1.0, 2.0]);
        numbers.insert(1, 5.0);
        numbers.with_slice_mut(|numbers| numbers.sort_by(f64::total_cmp));
        let sum: f64 = numbers.with_slice(|numbers| numbers.iter().sum());
        assert_eq!((numbers.remove(0), numbers.pop(), numbers.to_vec()), (1.0, Some(5.0), vec![2.0, 3.0]));
        assert!(numbers.contains(3.0) && numbers.equals([2.0, 3.0]).expect("both are there"));
        this.rows().assign([vec!["a"], vec!["b", "c"]]);
        this.rows().get(0).expect("two rows").push("d");
        this.spots().push(Spot { x: 1.0, y: 2.0 });
        this.spots().with_slice_mut(|spots| spots[0].x = 4.0);
        assert_eq!(this.spots().get(0), Some(Spot { x: 4.0, y: 2.0 }));
        format!("{sum} | {numbers} | {} | {}", this.rows(), this.spots())
    }

    /// Sets, maps and optionals.
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
        let group = this.groups().get(name("first")).expect("just put there");
        group.push(Stats::new().expect("a host"));
        group.get(0).expect("just pushed").set_strength(3.0);
        group.get(0).expect("just pushed").titles().push("king");
        format!("{tags} | {ages} | {best} | {}", this.groups())
    }

    /// The struct where it lies.
    #[ufunction]
    fn structs(&self, this: This<Self>) -> String {
        let stats = this.stats();
        stats.set_strength(1.5);
        stats.set_motto("onwards");
        stats.set_titles(["first", "second"]);
        stats.spot().set(Spot { x: 1.0, y: 2.0 });
        stats.set_friend(this.as_base().as_obj());
        let copy = stats.clone();
        stats.titles().clear();
        assert!(this.stats() != copy && this.open(&copy).titles().len() == 2);
        stats.assign(&copy);
        assert!(this.stats() == copy);
        format!("{} | {} | {}", stats.strength(), stats.motto(), stats.titles())
    }

    /// Containers of std.
    #[ufunction]
    fn std_types(&self, this: This<Self>) -> String {
        this.set_copied(vec!["a".to_owned(), "b".to_owned()]);
        this.set_counts(BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1)]));
        this.set_unique(HashSet::from([7]));
        this.set_perhaps(Some(3));
        format!("{:?} {:?} {:?} {:?}", this.copied(), this.counts(), this.unique(), this.perhaps())
    }

    /// References: pointed to another cabinet, which then goes.
    #[ufunction]
    fn references(&self, this: This<Self>, other: Obj<Cabinet>) -> String {
        this.neighbor().set(other);
        this.twin().set(other);
        this.guest().set(other);
        assert_eq!((this.neighbor().obj(), this.twin().obj(), this.guest().obj()), (other, other, other));
        let neighbor = this.neighbor().get(&this).expect("it is there");
        assert_eq!(neighbor.path(), this.neighbor().path());
        this.get(other).expect("it is there").destroy().expect("and may go");
        let gone = [this.neighbor().is_none(), this.twin().is_none(), this.guest().is_none()];
        format!("{gone:?} {} {}", this.twin().id() != 0, this.neighbor().path().is_empty())
    }

    /// Classes by path.
    #[ufunction]
    fn classes(&self, this: This<Self>) -> String {
        let refused =
            this.kind().try_set("/Script/Game.Nothing").expect_err("there is none").kind() == FailureKind::NOT_FOUND;
        this.kind().set_class::<Cabinet>();
        this.later().set("/Script/Game.Later");
        let made = this.kind().spawn(&this, Obj::none()).expect("a cabinet");
        let class = this.get(made).expect("it is there").class_path();
        format!("{refused} {} {class} {} {}", this.kind().path(), this.later().path(), this.later().is_none())
    }

    /// Is asked by a delegate.
    #[ufunction]
    fn is_large(&self, number: f64) -> bool {
        number > 10.0
    }

    /// Is told by a delegate.
    #[ufunction]
    fn hear(&mut self, text: String) {
        self.heard.push(text);
    }

    /// Is told by a sparse delegate.
    #[ufunction]
    fn hear_rarely(&mut self, this: This<Self>, name: UName, times: u32) {
        self.heard.push(format!("{} {times}", name.text(&this)));
    }

    /// Delegates: bound, called, taken apart.
    #[ufunction]
    fn delegates(&mut self, this: This<Self>) -> String {
        let me = this.as_obj();
        assert_eq!(this.decide().call((1.0,)).expect_err("nothing is bound").kind(), FailureKind::NOT_FOUND);
        let refused = this.decide().try_bind(me, "hear").expect_err("it takes a text").kind();
        assert_eq!(refused, FailureKind::SIGNATURE);
        this.decide().bind(me, "is_large");
        this.on_told().bind(me, "hear");
        this.on_told().bind(me, "hear");
        this.rarely().bind(me, "hear_rarely");
        assert_eq!((this.on_told().len(), this.rarely().len()), (1, 1));
        let red = UName::of(&this, "red").expect("a host");
        let answers = this.lend(self, |this| {
            this.on_told().broadcast(("news".to_owned(),));
            this.rarely().broadcast((red, 2));
            [this.decide().call((1.0,)).expect("bound"), this.decide().call((11.0,)).expect("bound")]
        });
        assert!(this.on_told().unbind(me, "hear") && this.decide().unbind() && this.rarely().unbind_all(me) == 1);
        assert!(!this.on_told().is_bound() && !this.decide().is_bound() && !this.rarely().is_bound());
        format!("{answers:?} {:?}", self.heard)
    }

    /// A property by path.
    #[ufunction]
    fn field_paths(&self, this: This<Self>) -> String {
        let field = this.watched();
        let refused = field.try_set("/Script/Game.Cabinet:nothing").expect_err("there is none").kind();
        assert_eq!(refused, FailureKind::NOT_FOUND);
        field.set("/Script/Game.Cabinet:perhaps");
        field.write(this.as_obj(), &Some(9_u8)).expect("an optional");
        let read: Option<u8> = field.read(this.as_obj()).expect("an optional");
        format!("{} {} {read:?}", field.path(), field.type_text())
    }

    /// Parameters where they lie, and a result that the caller owns.
    #[ufunction]
    fn longest(&self, rows: Lent<UArray<UArray<String>>>, title: Lent<UString>, more: Vec<String>) -> UArray<String> {
        let mut longest = more;
        for row in &rows {
            if row.len() > longest.len() {
                longest = row.to_vec();
            }
        }
        longest.push(title.text());
        longest.into()
    }

    /// Calls that.
    #[ufunction]
    fn calls(&self, this: This<Self>) -> String {
        this.rows().assign([vec!["a"], vec!["b", "c"]]);
        let title = UString::of("end").expect("a host");
        let one = this.longest(this.rows(), &title, vec![]);
        let other = this.longest(this.rows(), "end", vec!["x".to_owned(), "y".to_owned(), "z".to_owned()]);
        format!("{one} {other}")
    }

    /// A struct in, a struct out.
    #[ufunction]
    fn stronger(&self, this: This<Self>, stats: Lent<Stats>, by: f64) -> Stats {
        let stronger = stats.clone();
        let view = this.open(&stronger);
        view.set_strength(view.strength() + by);
        stronger
    }

    /// Calls that.
    #[ufunction]
    fn calls_with_structs(&self, this: This<Self>) -> String {
        this.stats().set_strength(1.0);
        let once = this.stronger(this.stats(), 2.0);
        let twice = this.stronger(&once, 4.0);
        format!("{} {}", this.stats().strength(), this.open(&twice).strength())
    }

    /// Keeps copies of properties over calls.
    #[ufunction]
    fn keep(&mut self, this: This<Self>) {
        this.numbers().assign([1.0, 2.0]);
        this.stats().set_strength(7.0);
        self.own.numbers = Some(this.numbers().clone());
        self.own.stats = Some(this.stats().clone());
        self.own.words = ["one", "two"].map(UString::from).into();
    }

    /// What is kept; it grows by each look.
    #[ufunction]
    fn kept(&self, this: This<Self>) -> String {
        let Own { numbers: Some(numbers), stats: Some(stats), words } = &self.own else { return "nothing".to_owned() };
        this.open(numbers).push(9.0);
        assert!(
            numbers.is_black() && !numbers.is_expired() && this.open(numbers).is_black() && !this.numbers().is_black()
        );
        format!("{numbers} | {} | {words:?}", this.open(stats).strength())
    }

    /// Makes values of all sorts, and drops them on threads of its own.
    #[ufunction]
    fn drops_on_threads(&mut self, this: This<Self>, count: u32) {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let values = (
                    UArray::of([f64::from(number)]).expect("a host"),
                    UMap::of([("key", number)]).expect("a host") as UMap<String, u32>,
                    this.stats().clone(),
                    this.groups().clone(),
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
            thread.join().expect("it only drops");
        }
    }

    /// Faces of what has moved, or whose owner has gone.
    #[ufunction]
    fn expires(&self, this: This<Self>) -> String {
        this.rows().assign([["a"], ["b"]]);
        let row = this.rows().get(0).expect("two rows");
        this.rows().insert(0, ["c"]);
        let grown = row.try_get(0).expect_err("it has moved up");
        let other = this.spawn::<Cabinet>(Obj::none()).expect("a cabinet");
        let view = this.get(other).expect("just made");
        let (numbers, stats) = (view.numbers(), view.stats());
        numbers.push(1.0);
        view.destroy().expect("nobody needs it");
        assert!(numbers.is_expired() && stats.is_expired() && row.is_expired() && !this.rows().is_expired());
        let dead = [
            numbers.try_push(1.0).expect_err("its owner is gone").kind(),
            numbers.try_get(0).expect_err("its owner is gone").kind(),
            stats.try_clone().expect_err("its owner is gone").kind(),
            grown.kind(),
        ];
        assert_eq!(dead, [FailureKind::EXPIRED; 4]);
        grown.to_string()
    }

    /// What is not caught ends the call as the error that it is.
    #[ufunction]
    fn expires_uncaught(&self, this: This<Self>) {
        this.rows().assign([["a"]]);
        let row = this.rows().get(0).expect("a row");
        this.rows().clear();
        row.push("b");
    }

    /// A call while a slice is lent.
    #[ufunction]
    fn lends(&self, this: This<Self>) -> String {
        this.numbers().assign([1.0]);
        this.numbers().with_slice(|_numbers| {
            tracing::info!("logging works meanwhile");
            [
                this.numbers().try_push(1.0).expect_err("a call"),
                this.spawn::<Cabinet>(Obj::none()).expect_err("a call"),
                this.try_set_perhaps(Some(1)).expect_err("a write"),
            ]
            .map(|error| (error.kind() == FailureKind::LENT).to_string())
            .join(" ")
        })
    }
}
