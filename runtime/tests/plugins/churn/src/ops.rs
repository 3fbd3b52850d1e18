//! What is done, drawn from a seed. The plugin and the test that knows what is to come of it both have this file, so that an
//! operation is known by its number alone: the plugin does it to values in host memory, the test to values of std.

/// How many things there are at a time, at the most.
pub(crate) const THINGS: u64 = 12;
/// How many values of each kind plugin code keeps, at the most.
pub(crate) const SLOTS: u64 = 4;
/// Longer containers are cut.
pub(crate) const LONG: u64 = 24;

/// Where all classes are.
pub(crate) const THING: &str = "/Script/Game.Thing";
/// A subclass of it.
pub(crate) const OFFSHOOT: &str = "/Script/Game.Offshoot";
/// None of them.
pub(crate) const YARD: &str = "/Script/Game.Yard";
/// Nothing at all.
pub(crate) const LATER: &str = "/Script/Game.Later";

/// A tiny generator of numbers: splitmix64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Numbers that belong to a seed and a place in its row.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut dice = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        Self(dice.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number that is often the same as another one.
    pub(crate) fn number(&mut self) -> f64 {
        self.below(40) as f64 / 2.0 - 4.0
    }

    /// A word that is often the same as another one; some are empty, some long, some of letters with several bytes.
    pub(crate) fn word(&mut self) -> String {
        match self.below(12) {
            0 => String::new(),
            1 => "\u{20ac}uro ".repeat(1 + self.below(9) as usize),
            _ => self.latin(),
        }
    }

    /// A word that fits one byte a letter.
    pub(crate) fn latin(&mut self) -> String {
        let letters = ["a", "b", "\u{e4}", "sand", "wood", "\u{fe}orn"];
        (0..1 + self.below(2)).map(|_| letters[self.below(6) as usize]).collect()
    }

    /// One of few words, none of them empty.
    pub(crate) fn name(&mut self) -> &'static str {
        ["red", "round", "Red", "tall", "t\u{f6}rn", "quick_1", "quick_2", "low"][self.below(8) as usize]
    }

    /// Up to three words.
    pub(crate) fn words(&mut self) -> Vec<String> {
        (0..self.below(4)).map(|_| self.word()).collect()
    }

    /// The path of a class that a thing can be.
    pub(crate) fn class(&mut self) -> &'static str {
        if self.below(2) == 0 { THING } else { OFFSHOOT }
    }

    /// The path of a property of things.
    pub(crate) fn field(&mut self) -> &'static str {
        ["/Script/Game.Thing:numbers", "/Script/Game.Thing:sheet", "/Script/Game.Thing:heard"][self.below(3) as usize]
    }

    /// A function of things that takes a number.
    pub(crate) fn listener(&mut self) -> &'static str {
        if self.below(2) == 0 { "hear" } else { "hear_twice" }
    }
}

/// What an answer says of a text.
pub(crate) fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What a thing that has heard something remembers of it.
pub(crate) fn hears(heard: u64, stamp: u32) -> u64 {
    heard.wrapping_mul(31).wrapping_add(stamp.into())
}

/// All kinds of values that a thing has as properties and plugin code keeps: name, type in the plugin, type in the model.
macro_rules! kinds {
    ($then:ident) => {
        $then! {
            title: UString, Text<Utf>;
            wide: UUtf8String, Text<Wide>;
            narrow: UAnsiString, Text<Ansi>;
            label: UText, Label;
            kind: SubclassOf<Thing>, ClassPath<Sub>;
            later: SoftClass<Thing>, ClassPath<Soft>;
            neighbor: SoftObject<Thing>, SoftRef;
            twin: LazyObject<Thing>, LazyRef;
            guest: WeakObject<Thing>, WeakRef;
            voice: ScriptInterface<Speaks>, Voice;
            numbers: UArray<f64>, Vec<f64>;
            rows: UArray<UArray<String>>, Vec<Vec<String>>;
            sheets: UArray<Sheet>, Vec<SheetModel>;
            friends: UArray<Obj<Thing>>, Vec<Friend>;
            tags: USet<UName>, BTreeSet<Named>;
            marks: USet<String>, BTreeSet<String>;
            ages: UMap<String, i32>, BTreeMap<String, i32>;
            groups: UMap<UName, UArray<Sheet>>, BTreeMap<Named, Vec<SheetModel>>;
            best: UOptional<f64>, Option<f64>;
            maybe: UOptional<UArray<u32>>, Option<Vec<u32>>;
            decide: Delegate<fn(f64) -> bool>, Decide;
            on_told: MulticastDelegate<fn(u32)>, Told<Dense>;
            rarely: SparseDelegate<fn(u32)>, Told<Rare>;
            watched: FieldPath, FieldName;
            sheet: Sheet, SheetModel;
        }
    };
}
pub(crate) use kinds;

macro_rules! fields {
    ($($name:ident: $plugin:ty, $model:ty;)*) => {
        /// The properties of a thing that plugin code keeps copies of, by name.
        pub(crate) const FIELDS: &[&str] = &[$(stringify!($name)),*];
    };
}
kinds!(fields);

/// What sort of thing is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    /// The property of a thing is changed where it lies.
    ChangeRed,
    /// A value that plugin code owns is changed where it lies.
    ChangeBlack,
    /// A property is cloned, which gives a black.
    Clone,
    /// A property is overwritten with a black.
    IntoHost,
    /// A black is overwritten with a property.
    Take,
    /// A property is overwritten with that of another thing, or of the same one.
    Copy,
    /// A black is cloned.
    Twin,
    /// A black is made of nothing.
    New,
    /// A black goes to another slot, whose value is dropped.
    Move,
    /// A property and a black are compared.
    Compare,
    /// A black is printed, and the text read back into a property.
    Print,
    /// A black is dropped on the game thread.
    Drop,
    /// A black is dropped by one of the plugin's worker threads.
    DropByWorker,
    /// A black is dropped by a thread of its own that is waited for.
    DropByThread,
    /// A black is dropped by a thread of its own that is never joined.
    DropDetached,
    /// Numbers, texts and names that are no conjugates are written.
    Plain,
    /// Values of std are copied in.
    Std,
    /// A function takes a property and a black, and gives a black.
    Call,
    /// The plugin part of a thing makes a black, which goes with it.
    Keep,
    /// A thing is born.
    Spawn,
    /// A thing is destroyed.
    Destroy,
    /// A thing is no longer among those that are kept.
    Forget,
    /// A thing that a weak reference names is kept again.
    Adopt,
    /// A thing gets another name.
    Rename,
    /// The view of an element is used after its container has grown.
    StaleElement,
    /// The view of a property is used after its owner was destroyed.
    StaleOwner,
    /// Handles of things that are gone are used.
    StaleHandle,
    /// A black's inside is used after the black was overwritten.
    StaleBlack,
}

impl Verb {
    fn draw(dice: &mut Dice) -> Self {
        match dice.below(1000) {
            0..340 => Self::ChangeRed,
            340..500 => Self::ChangeBlack,
            500..540 => Self::Clone,
            540..570 => Self::IntoHost,
            570..590 => Self::Take,
            590..610 => Self::Copy,
            610..630 => Self::Twin,
            630..670 => Self::New,
            670..685 => Self::Move,
            685..705 => Self::Compare,
            705..720 => Self::Print,
            720..730 => Self::Drop,
            730..750 => Self::DropByWorker,
            750..755 => Self::DropByThread,
            755..760 => Self::DropDetached,
            760..790 => Self::Plain,
            790..805 => Self::Std,
            805..820 => Self::Call,
            820..835 => Self::Keep,
            835..870 => Self::Spawn,
            870..880 => Self::Destroy,
            880..895 => Self::Forget,
            895..905 => Self::Adopt,
            905..915 => Self::Rename,
            915..940 => Self::StaleElement,
            940..950 => Self::StaleOwner,
            950..980 => Self::StaleHandle,
            _ => Self::StaleBlack,
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// What sort.
    pub(crate) verb: Verb,
    /// Of which kind: an index into [`FIELDS`].
    pub(crate) field: usize,
    /// On which thing.
    pub(crate) thing: usize,
    /// And which other one.
    pub(crate) other: usize,
    /// On which black.
    pub(crate) slot: usize,
    /// And which other one.
    pub(crate) to: usize,
    /// Whatever else has to be drawn.
    pub(crate) dice: Dice,
}

impl Op {
    /// The operation of a number.
    pub(crate) fn nth(seed: u64, index: u64) -> Self {
        let mut dice = Dice::new(seed, index);
        let verb = Verb::draw(&mut dice);
        let mut below = |limit: u64| dice.below(limit) as usize;
        let (field, thing, other) = (below(FIELDS.len() as u64), below(THINGS), below(THINGS));
        let (slot, to) = (below(SLOTS), below(SLOTS));
        Self { verb, field, thing, other, slot, to, dice }
    }
}

/// The answer of an operation that found nothing to work on.
pub(crate) const NOTHING: u64 = u64::MAX;
