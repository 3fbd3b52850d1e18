//! Operations drawn from a seed. The plugin and the test both include this file, so a number identifies an operation for both. The plugin
//! applies the operation to values in host memory, and the test applies it to values of std.

/// Maximum number of things.
pub(crate) const THINGS: u64 = 12;
/// Maximum number of owned values of each kind.
pub(crate) const SLOTS: u64 = 4;
/// Length above which containers are truncated.
pub(crate) const LONG: u64 = 24;

/// Path of the class of things.
pub(crate) const THING: &str = "/Script/Game.Thing";
/// Path of a subclass of `Thing`.
pub(crate) const OFFSHOOT: &str = "/Script/Game.Offshoot";
/// Path of a class that does not extend `Thing`.
pub(crate) const YARD: &str = "/Script/Game.Yard";
/// Path of a class that does not exist.
pub(crate) const LATER: &str = "/Script/Game.Later";

/// Random number generator: splitmix64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates a generator for a seed and an index.
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

    /// Returns a number below `limit`. `limit` must not be zero.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Returns a number from a small range, so that numbers repeat.
    pub(crate) fn number(&mut self) -> f64 {
        self.below(40) as f64 / 2.0 - 4.0
    }

    /// Returns a word. Words often repeat; some are empty, long or multi-byte.
    pub(crate) fn word(&mut self) -> String {
        match self.below(12) {
            0 => String::new(),
            1 => "\u{20ac}uro ".repeat(1 + self.below(9) as usize),
            _ => self.latin(),
        }
    }

    /// Returns a word of Latin-1 characters.
    pub(crate) fn latin(&mut self) -> String {
        let letters = ["a", "b", "\u{e4}", "sand", "wood", "\u{fe}orn"];
        (0..1 + self.below(2)).map(|_| letters[self.below(6) as usize]).collect()
    }

    /// Returns a name from a short list. The name is never empty.
    pub(crate) fn name(&mut self) -> &'static str {
        ["red", "round", "Red", "tall", "t\u{f6}rn", "quick_1", "quick_2", "low"][self.below(8) as usize]
    }

    /// Returns up to three words.
    pub(crate) fn words(&mut self) -> Vec<String> {
        (0..self.below(4)).map(|_| self.word()).collect()
    }

    /// Returns the path of the class `Thing` or of its derived class.
    pub(crate) fn class(&mut self) -> &'static str {
        if self.below(2) == 0 { THING } else { OFFSHOOT }
    }

    /// Returns the path of a property of the class `Thing`.
    pub(crate) fn field(&mut self) -> &'static str {
        ["/Script/Game.Thing:numbers", "/Script/Game.Thing:sheet", "/Script/Game.Thing:received"]
            [self.below(3) as usize]
    }

    /// Returns the name of a function of the class `Thing`. The function takes a number.
    pub(crate) fn listener(&mut self) -> &'static str {
        if self.below(2) == 0 { "hear" } else { "hear_twice" }
    }
}

/// Returns the FNV-1a hash of a string.
pub(crate) fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Returns the value of `received` after another call with `stamp`.
pub(crate) fn add_received(received: u64, stamp: u32) -> u64 {
    received.wrapping_mul(31).wrapping_add(stamp.into())
}

/// Calls a macro with all kinds that plugin code owns and that things have as properties: name, plugin type, model type.
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
            on_reported: MulticastDelegate<fn(u32)>, Listeners<Dense>;
            rarely: SparseDelegate<fn(u32)>, Listeners<Rare>;
            watched: FieldPath, FieldName;
            sheet: Sheet, SheetModel;
        }
    };
}
pub(crate) use kinds;

macro_rules! fields {
    ($($name:ident: $plugin:ty, $model:ty;)*) => {
        /// Names of the properties whose kinds plugin code also owns.
        pub(crate) const FIELDS: &[&str] = &[$(stringify!($name)),*];
    };
}
kinds!(fields);

/// Kind of operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    /// Changes a property of a thing in place.
    ChangeRed,
    /// Changes an owned value in place.
    ChangeBlack,
    /// Clones a property into an owned value.
    Clone,
    /// Assigns an owned value to a property.
    IntoHost,
    /// Assigns a property to an owned value.
    Take,
    /// Assigns to a property the equal property of another thing, or of the same thing.
    Copy,
    /// Clones an owned value.
    Twin,
    /// Creates a default owned value.
    New,
    /// Moves an owned value to another slot. Drops the previous value of that slot.
    Move,
    /// Compares a property with an owned value.
    Compare,
    /// Prints an owned value and parses the string into a property.
    Print,
    /// Drops an owned value on the game thread.
    Drop,
    /// Drops an owned value on one of the plugin's worker threads.
    DropByWorker,
    /// Drops an owned value on a new thread. The operation joins this thread.
    DropByThread,
    /// Drops an owned value on a new thread. No operation joins this thread.
    DropDetached,
    /// Writes numbers, strings and names that are not conjugates.
    Plain,
    /// Changes properties whose type in the plugin is a std container.
    Std,
    /// Calls a function that returns an owned value. The arguments are a property and an owned value.
    Call,
    /// Creates an owned value in the plugin part of a thing.
    Keep,
    /// Spawns a thing.
    Spawn,
    /// Destroys a thing.
    Destroy,
    /// Removes a thing from its slot, so that the yard no longer keeps it alive.
    Forget,
    /// Stores the target of a soft, lazy or weak reference in a slot, if the reference resolves.
    Adopt,
    /// Renames a thing.
    Rename,
    /// Uses the view of an element after its container has grown.
    StaleElement,
    /// Uses the view of a property after the object that owns the property was destroyed.
    StaleOwner,
    /// Uses handles of destroyed things.
    StaleHandle,
    /// Uses the view of an element of an owned value after the value was overwritten.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) verb: Verb,
    /// Kind of value: an index into [`FIELDS`].
    pub(crate) field: usize,
    /// Index of the thing.
    pub(crate) thing: usize,
    /// Index of the second thing.
    pub(crate) other: usize,
    /// Slot of the owned value.
    pub(crate) slot: usize,
    /// Slot of the second owned value.
    pub(crate) to: usize,
    /// Generator for further draws.
    pub(crate) dice: Dice,
}

impl Op {
    /// Returns the operation of an index.
    pub(crate) fn nth(seed: u64, index: u64) -> Self {
        let mut dice = Dice::new(seed, index);
        let verb = Verb::draw(&mut dice);
        let mut below = |limit: u64| dice.below(limit) as usize;
        let (field, thing, other) = (below(FIELDS.len() as u64), below(THINGS), below(THINGS));
        let (slot, to) = (below(SLOTS), below(SLOTS));
        Self { verb, field, thing, other, slot, to, dice }
    }
}

/// Result of an operation that found no value to use.
pub(crate) const NOTHING: u64 = u64::MAX;
