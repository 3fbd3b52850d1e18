//! Calls the functions of views into host values, as a plugin author would. A wrong result causes a panic.

use std::collections::{BTreeMap, HashMap, HashSet};

use alcedo_plugin_api::FailureKind;
use alcedo_plugin_api::prelude::*;

/// Object with values of every kind.
#[uclass(package = "Game")]
pub struct Shelf {
    /// Numbers.
    #[uproperty]
    numbers: UArray<f64>,
    /// Nested arrays of strings.
    #[uproperty]
    rows: UArray<UArray<String>>,
    /// Numbers by string.
    #[uproperty]
    ages: UMap<String, i32>,
    /// Arrays by number.
    #[uproperty]
    groups: UMap<u32, UArray<u8>>,
    /// Set of strings.
    #[uproperty]
    tags: USet<String>,
    /// Optional number.
    #[uproperty]
    best: UOptional<f64>,
    /// String, used in place.
    #[uproperty]
    title: UString,
    /// String with one byte per character.
    #[uproperty]
    label: UAnsiString,
    /// Array of two elements that each access copies.
    #[uproperty(meta(array_dim = "2"))]
    copied: Vec<u16>,
    /// Array of one element.
    #[uproperty(meta(array_dim = "1"))]
    fixed: UArray<f64>,
    /// Map that each access copies.
    #[uproperty]
    counts: BTreeMap<String, u64>,
    /// Optional byte that each access copies.
    #[uproperty]
    perhaps: Option<u8>,

    /// Object to which the red constructor writes.
    #[uproperty]
    other: Obj<Shelf>,

    kept: Option<UArray<f64>>,
    refused: Vec<String>,
}

#[uclass]
impl Shelf {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        let refused = this.get(this.other()).map_or_else(|_none| Vec::new(), writes_to);
        Self { kept: None, refused }
    }

    #[ufunction]
    fn arrays(&self, this: This<Self>) -> String {
        let numbers = this.numbers();
        numbers.extend([3.0, 1.0, 2.0]);
        numbers.insert(1, 5.0);
        numbers.set(0, 4.0);
        assert_eq!(numbers.remove(3), 2.0);
        assert_eq!((numbers.len(), numbers.get(9), numbers.first(), numbers.last()), (3, None, Some(4.0), Some(1.0)));
        assert!(numbers.contains(5.0) && !numbers.contains(6.0) && numbers.position(1.0) == Some(2));
        numbers.with_slice_mut(|numbers| numbers.sort_by(f64::total_cmp));
        let sum: f64 = numbers.with_slice(|numbers| numbers.iter().sum());
        assert_eq!(numbers.iter().map(|number| number * 2.0).collect::<Vec<_>>(), [2.0, 8.0, 10.0]);
        assert_eq!((numbers.pop(), numbers.to_vec()), (Some(5.0), vec![1.0, 4.0]));
        assert_eq!(Vec::from(&numbers), [1.0, 4.0]);
        this.set_numbers([7.0]);
        format!("{sum} {numbers} {}", numbers.is_black())
    }

    #[ufunction]
    fn nests(&self, this: This<Self>) -> String {
        this.rows().push(["a", "b"]);
        this.rows().push(vec!["c".to_owned()]);
        let first = this.rows().get(0).expect("two rows");
        first.push("d");
        assert_eq!(first.get(2).as_deref(), Some("d"));
        this.groups().insert(7, [1, 2, 3]);
        this.groups().insert(7, [4]);
        this.groups().get(7).expect("just inserted").push(5);
        assert_eq!(this.groups().iter().map(|(key, row)| (key, row.to_vec())).collect::<Vec<_>>(), [(7, vec![4, 5])]);
        format!("{} {}", this.rows(), this.groups())
    }

    #[ufunction]
    fn sets_and_maps(&self, this: This<Self>) -> String {
        let (tags, ages) = (this.tags(), this.ages());
        assert!(tags.insert("red") && tags.insert("round") && !tags.insert("red"));
        assert!(tags.contains("red") && tags.remove("red") && !tags.remove("red"));
        assert_eq!(tags.to_hash_set(), HashSet::from(["round".to_owned()]));
        ages.assign([("Ada", 36), ("Alan", 41)]);
        assert!(!ages.insert("Ada", 37) && ages.contains_key("Alan"));
        assert_eq!((ages.get("Ada"), ages.get("Bob"), ages.remove("Alan")), (Some(37), None, Some(41)));
        assert_eq!(ages.or_insert_with("Eve", || 5), 5);
        assert_eq!(ages.to_hash_map(), HashMap::from([("Ada".to_owned(), 37), ("Eve".to_owned(), 5)]));
        assert_eq!(ages.keys().collect::<Vec<_>>(), ["Ada", "Eve"]);
        assert_eq!(ages.values().sum::<i32>(), 42);
        ages.extend([("Kay", 1)]);
        format!("{tags} {ages}")
    }

    #[ufunction]
    fn texts_and_optionals(&self, this: This<Self>) -> String {
        this.title().set("a box");
        this.title().push_str(" of wood");
        assert!(this.title() == "a box of wood" && this.title().len() == 13);
        this.set_title("short");
        this.label().set("caf\u{e9}");
        assert_eq!((this.label().text().as_str(), this.label().len()), ("caf\u{e9}", 4));
        let refused = this.label().try_set("\u{20ac}").expect_err("not a one-byte character");
        assert!(refused.to_string().contains("UAnsiString"), "{refused}");
        assert_eq!(this.best().get(), None);
        this.best().set(1.5);
        assert_eq!((this.best().get(), this.best().take(), this.best().is_none()), (Some(1.5), Some(1.5), true));
        this.best().assign(Some(2.5));
        format!("{} {}", this.title(), this.best())
    }

    #[ufunction]
    fn std_types(&self, this: This<Self>) -> String {
        this.set_copied(vec![1, 2]);
        this.set_counts(BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1)]));
        this.set_perhaps(Some(3));
        format!("{:?} {:?} {:?}", this.copied(), this.counts(), this.perhaps())
    }

    #[ufunction]
    fn fixed_arrays(&self, this: This<Self>) -> String {
        this.set_copied(vec![1, 2]);
        this.set_fixed([3.0]);
        let errors = [
            this.try_set_copied(vec![1, 2, 3]).expect_err("longer"),
            this.try_set_fixed([1.0, 2.0]).expect_err("longer"),
            this.try_set_fixed(this.numbers()).expect_err("shorter"),
        ];
        let errors = errors.map(|error| error.to_string());
        format!("{:?} {} {}", this.copied(), this.fixed(), errors.join("; "))
    }

    #[ufunction]
    fn owned_values(&mut self, this: This<Self>) -> String {
        let own = UArray::of([1.0, 2.0]).expect("a host");
        let copy = own.clone();
        this.open(&copy).push(3.0);
        assert!(own != copy && own.is_black() && !own.is_expired() && this.open(&own).is_black());
        this.numbers().assign(&copy);
        let seen = this.numbers().to_owned();
        assert!(seen == copy && this.numbers() == seen);
        std::thread::spawn(move || drop(own)).join().expect("any thread may drop values");
        let collected: UArray<f64> = seen.to_string().len().to_string().bytes().map(f64::from).collect();
        let title: UString = "read".parse().expect("a text");
        let line = format!("{seen} {collected:?} {title}");
        self.kept = Some(copy);
        line
    }

    #[ufunction]
    fn uses_kept(&self, this: This<Self>) -> String {
        let kept = self.kept.as_ref().expect("an earlier call has set the value");
        format!("{:?}", this.open(kept).to_vec())
    }

    #[ufunction]
    fn expires(&self, this: This<Self>) -> String {
        this.rows().assign([["a"], ["b"]]);
        let row = this.rows().get(0).expect("two rows");
        assert!(!row.is_expired() && row.try_get(0).is_ok());
        this.rows().insert(0, ["c"]);
        assert!(row.is_expired());
        let error = row.try_get(0).expect_err("its container has grown");
        assert_eq!(error.kind(), FailureKind::EXPIRED);
        let group = {
            this.groups().insert(1, [1]);
            this.groups().get(1).expect("just inserted")
        };
        this.groups().clear();
        assert_eq!(group.try_push(1).expect_err("the map was cleared").kind(), FailureKind::EXPIRED);
        this.best().set(1.0);
        error.to_string()
    }

    #[ufunction]
    fn lends(&self, this: This<Self>) -> String {
        this.numbers().assign([1.0]);
        let refused = this.numbers().with_slice(|_numbers| {
            tracing::info!("logging works");
            assert_eq!(this.numbers().get(0), Some(1.0), "a shared borrow prevents reads");
            let write = this.numbers().try_set(0, 2.0).expect_err("a refused write");
            assert_eq!(write.kind(), FailureKind::BORROWED);
            this.numbers().try_push(1.0).expect_err("a refused call")
        });
        let twice = this.numbers().with_slice_mut(|numbers| {
            numbers[0] = 3.0;
            let read = this.numbers().try_get(0).expect_err("the array is borrowed mutably");
            assert_eq!(read.kind(), FailureKind::BORROWED);
            this.numbers().try_with_slice(<[f64]>::len).expect_err("the array is borrowed mutably")
        });
        assert_eq!(twice.kind(), FailureKind::BORROWED);
        assert_eq!(this.numbers().get(0), Some(3.0));
        refused.to_string()
    }

    #[ufunction]
    fn refused_writes(&self) -> String {
        self.refused.join(", ")
    }
}

/// Tries every kind of write to another object, and returns the outcomes.
fn writes_to(other: This<'_, Shelf>) -> Vec<String> {
    let all = [
        ("set an element", other.numbers().try_set(0, 1.0).err()),
        ("overwrite an array", other.try_set_numbers([1.0]).err()),
        ("lend a slice", other.numbers().try_with_slice_mut(|_numbers| ()).err()),
        ("set an optional", other.best().try_set(1.0).err()),
        ("set a text", other.title().try_set("x").err()),
    ];
    let failed = all
        .into_iter()
        .filter(|(_, error)| error.as_ref().is_none_or(|error| error.kind() != FailureKind::DURING_REBUILD));
    let wrong: Vec<_> = failed.map(|(what, error)| format!("{what}: {error:?}")).collect();
    if wrong.is_empty() { vec!["all".to_owned()] } else { wrong }
}
