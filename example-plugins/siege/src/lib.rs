//! What a third attacker tries, in safe code.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Module, delay, next_tick, post};
use alcedo_plugin_api::{ZFunction, ZMethod, auto_dispose};
use corosensei::{Coroutine, Yielder};

module! { name: "siege", main: started, exit: ended }

/// Where the process is ended, or the thread sleeps for good.
static PLACE: AtomicU32 = AtomicU32::new(0);
static HOW: AtomicU32 = AtomicU32::new(0);

fn here(place: u32) {
    if PLACE.load(Ordering::Relaxed) != place {
        return;
    }
    match HOW.load(Ordering::Relaxed) {
        1 => std::process::exit(7),
        2 => {
            PLACE.store(0, Ordering::Relaxed);
            std::thread::park();
            std::thread::sleep(Duration::from_secs(3));
        }
        3 => panic!("here"),
        4 => drop(std::thread::spawn(|| std::thread::sleep(Duration::from_millis(700)))),
        5 => {
            tell(&format!("acted {:?}", zcall::<(), ()>("ex:/host.act", ())));
        }
        _ => {}
    }
}

fn started() {
    here(1);
}

fn ended() {
    here(2);
}

fn tell(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "[siege] {line}");
}

struct Place(u32);

impl Drop for Place {
    fn drop(&mut self) {
        here(self.0);
    }
}

thread_local! {
    static LOCAL: RefCell<Option<Place>> = const { RefCell::new(None) };
    static ASLEEP: RefCell<Vec<Coroutine<(), (), ()>>> = const { RefCell::new(Vec::new()) };
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

fn note(line: String) {
    let _ = TOLD.try_with(|told| told.borrow_mut().push(line));
}

/// Words that panic.
struct Loud;

impl fmt::Display for Loud {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("loud")
    }
}

impl fmt::Debug for Loud {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("loud")
    }
}

/// A payload whose drop panics.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            std::panic::panic_any(Bomb(self.0 - 1));
        }
    }
}

/// Does everything when it is dropped, on whatever stack.
struct Busy(Obj<Foe>, Option<UArray<u64>>);

impl Drop for Busy {
    fn drop(&mut self) {
        let me = self.0;
        let all = [
            format!("with {:?}", me.with(|this| this.count()).map_err(|e| e.kind())),
            format!("part {:?}", me.with_part(|part, _this| part.words.len()).map_err(|e| e.kind())),
            format!("call {:?}", zcall::<(u64, u64), u64>("nm:/siege:Foe:sum", (1, 2)).map_err(|e| e.kind())),
            format!("act {:?}", zcall::<(), ()>("ex:/host.act", ()).map_err(|e| e.kind())),
            format!("black {:?}", UArray::<u64>::of(vec![1_u64, 2]).map(|it| it.is_expired()).map_err(|e| e.kind())),
            format!("post {:?}", post(|| ()).map_err(|e| e.kind())),
            format!("clone {:?}", self.1.as_ref().map(|it| it.try_clone().is_ok())),
        ];
        drop(task::try_spawn(Module, async { next_tick().await }));
        drop(timer::try_after(Module, Duration::ZERO, |_| ()));
        auto_dispose(Place(99));
        tracing::info!("busy");
        note(all.join("; "));
    }
}

#[cfg(not(feature = "v2"))]
mod kinds {
    pub type Elem = u64;
    pub type Row = alcedo_plugin_api::UArray<u64>;
    pub type Number = u64;
    pub type Words = Vec<u64>;
    pub type Kept = std::collections::BTreeMap<String, Vec<(u32, Option<String>)>>;
    pub type Small = u32;
}
#[cfg(feature = "v2")]
mod kinds {
    pub type Elem = bool;
    pub type Row = bool;
    pub type Number = bool;
    pub type Words = Vec<bool>;
    pub type Kept = std::collections::BTreeMap<String, u8>;
    pub type Small = i8;
}

use kinds::{Elem, Row};

/// A number, and a list of another type in each build.
#[ustruct(package = "Game")]
pub struct Pack {
    x: u64,
    list: UArray<Elem>,
}

#[uclass(package = "Game", blueprintable)]
pub struct Foe {
    #[uproperty(blueprint_read_write)]
    numbers: UArray<u64>,
    #[uproperty(default = 7, blueprint_read_write)]
    count: u64,
    #[uproperty(blueprint_read_write)]
    text: String,
    #[uproperty]
    on_told: MulticastDelegate<fn(u32)>,
    #[uproperty]
    ask: Delegate<fn(u32) -> u32>,
    #[uproperty]
    partner: Obj<Foe>,
    #[uproperty]
    many: UMap<UName, UArray<String>>,
    #[uproperty]
    rows: UArray<UMap<UName, Row>>,
    #[uproperty]
    pack: Pack,
    #[keep]
    number: kinds::Number,
    #[keep]
    kept_words: kinds::Words,
    #[keep]
    kept: kinds::Kept,
    #[keep]
    small: kinds::Small,
    words: Vec<u64>,
    held: Vec<Busy>,
    place: Place,
}

#[uclass]
impl Foe {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        here(3);
        Self {
            number: Default::default(),
            kept_words: Default::default(),
            kept: Default::default(),
            small: Default::default(),
            words: vec![7; 64],
            held: Vec::new(),
            place: Place(4),
        }
    }

    #[class_constructor]
    fn construct(&mut self, _this: This<Self>) {
        here(5);
    }

    #[ufunction(blueprint_callable)]
    fn arm(place: u32, how: u32) {
        HOW.store(how, Ordering::Relaxed);
        PLACE.store(place, Ordering::Relaxed);
        match place {
            10 => LOCAL.set(Some(Place(10))),
            11 => drop(std::thread::spawn(|| LOCAL.set(Some(Place(11)))).join()),
            12 => drop(std::thread::spawn(|| here(12)).join()),
            13 => drop(timer::after(Module, Duration::ZERO, |_| here(13))),
            14 => drop(task::spawn(Module, async {
                next_tick().await;
                here(14);
            })),
            15 => drop(post(|| here(15))),
            16 => {
                let held = Place(16);
                drop(task::spawn(Module, async move {
                    let _held = held;
                    std::future::pending::<()>().await;
                }));
            }
            17 => drop(auto_dispose(Place(17))),
            18 => drop(std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                here(18);
            })),
            19 => {
                let held = Place(19);
                let _posted = post(move || drop(held));
            }
            _ => {}
        }
    }

    #[ufunction(blueprint_callable)]
    fn told() -> String {
        TOLD.take().join("\n")
    }

    #[ufunction(blueprint_callable)]
    fn add(one: u64, two: u64) -> u64 {
        one.wrapping_add(two)
    }

    #[ufunction(blueprint_callable)]
    fn poke(&mut self, this: This<Self>, number: u64) -> u64 {
        self.words.push(number);
        this.set_count(this.count() + number);
        SEEN.set(SEEN.get() + 1);
        this.lend(self, |_this| here(20));
        self.words.len() as u64
    }

    #[ufunction(blueprint_callable)]
    fn hear(&self, _this: This<Self>, number: u32) {
        SEEN.set(SEEN.get() + u64::from(number));
        here(21);
    }

    #[ufunction(blueprint_callable)]
    fn asked(&self, number: u32) -> u32 {
        here(22);
        number + 1
    }

    #[ufunction(blueprint_callable)]
    fn seen() -> u64 {
        SEEN.get()
    }

    #[ufunction(blueprint_callable)]
    fn fill(&mut self, this: This<Self>) {
        this.numbers().assign(vec![7_u64; 64]);
        #[cfg(not(feature = "v2"))]
        {
            self.number = 77;
            self.kept_words = vec![1, 2, 3];
            self.kept.insert("a".into(), vec![(1, None), (2, Some("two".into()))]);
            self.small = 1 << 30;
        }
    }

    #[ufunction(blueprint_callable)]
    fn kept_text(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.number, self.kept_words, self.kept, self.small)
    }

    /// Panics that are caught in the plugin, with whatever lies between.
    #[ufunction(blueprint_callable)]
    fn caught(&mut self, this: This<Self>, how: u32) -> String {
        let list = this.numbers();
        list.assign(vec![7_u64; 64]);
        let me = this.as_obj();
        let bomb = || std::panic::panic_any(Bomb(2));
        let said = catch_unwind(AssertUnwindSafe(|| match how {
            0 => list.with_slice(|_slice| panic!("in a slice")),
            1 => list.with_slice_mut(|slice| {
                slice[0] = 9;
                panic!("in a slice to write")
            }),
            2 => this.lend(self, |_this| panic!("in a loan")),
            3 => this.lend(self, |_this| {
                let _inner = me.with_part(|_part, _this| panic!("in a part"));
            }),
            4 => {
                let _inner = me.with(|_this| panic!("in an object"));
            }
            5 => {
                let add = ZFunction::<(u64, u64), u64>::find("ex:/host.leaf").expect("found");
                let _inner = add.hot(|_add| panic!("in hot"));
            }
            6 => list.iter().for_each(|_one| panic!("in a walk")),
            7 => {
                let poke = ZMethod::<(u64,), u64>::find("uf:/Script/Game.Foe:fails").expect("found");
                let all = vec![me; 3];
                let _each = poke.call_each(&all, (1,)).expect("each");
                panic!("after each")
            }
            8 => list.with_slice(|_slice| bomb()),
            9 => this.lend(self, |_this| bomb()),
            10 => {
                // A view of an owned value, which is forgotten.
                let own = UArray::<u64>::of(vec![1_u64; 8]).expect("made");
                let view = this.open(&own);
                view.with_slice(|_slice| panic!("in a slice of its own"))
            }
            11 => list.with_slice(|_slice| {
                let _again = catch_unwind(AssertUnwindSafe(|| list.with_slice(|_slice| panic!("within"))));
                panic!("without")
            }),
            12 => {
                let _ = this.many().or_insert_with(UName::NONE, || -> Vec<String> { panic!("in or_insert_with") });
            }
            13 => {
                let _inner = this.spawn::<Foe>(Obj::none()).and_then(|born| born.with(|born| born.destroy()));
                this.on_told().try_broadcast((1,)).expect("told");
                panic!("after a broadcast")
            }
            14 => std::mem::forget(list.iter()),
            15 => {
                let _told: () = zcall("ex:/host.panic", ()).expect("the host panics");
            }
            _ => {}
        }))
        .map_err(|payload| std::mem::forget(payload));
        let after = (list.try_push(1_u64).is_ok(), this.count(), self.words.len());
        format!("{how}: {said:?} {after:?}")
    }

    #[ufunction(blueprint_callable)]
    fn fails(&mut self, number: u64) -> Result<u64, String> {
        if self.words.len() % 2 == 0 { Err(format!("no {number}")) } else { panic!("fails") }
    }

    #[ufunction(blueprint_callable)]
    fn loud(how: u32) {
        match how {
            0 => tracing::info!("{}", Loud),
            1 => tracing::info!(loud = ?Loud, "debug"),
            2 => tracing::info!(loud = %Loud, "display"),
            3 => {
                let _span = tracing::info_span!("a span", loud = ?Loud).entered();
            }
            4 => {
                let span = tracing::info_span!("a span", loud = tracing::field::Empty);
                span.record("loud", tracing::field::debug(&Loud));
            }
            5 => drop(std::thread::spawn(|| tracing::info!("{}", Loud)).join()),
            6 => panic!("{}", Loud),
            7 => {
                let _caught = catch_unwind(|| panic!("{}", Loud));
            }
            _ => {}
        }
    }

    /// Coroutines that hold what is busy when it is dropped, and are unwound by force.
    #[ufunction(blueprint_callable)]
    fn unwind_by_force(me: Obj<Foe>, how: u32) {
        let work = move || {
            let list = UArray::<u64>::of(vec![1_u64; 8]).ok();
            let busy = Busy(me, list);
            let mut co: Coroutine<(), (), ()> = Coroutine::new(move |y: &Yielder<(), ()>, ()| {
                let _busy = busy;
                if how == 3 {
                    let _told = catch_unwind(AssertUnwindSafe(|| y.suspend(())));
                    note("caught the force".into());
                    return;
                }
                y.suspend(());
            });
            co.resume(());
            match how {
                0 | 3 => drop(co),
                1 => ASLEEP.with_borrow_mut(|all| all.push(co)),
                _ => {
                    co.resume(());
                }
            }
        };
        let _posted = post(work);
    }

    #[ufunction(blueprint_callable)]
    fn hold_busy(&mut self, this: This<Self>) {
        self.held.push(Busy(this.as_obj(), UArray::<u64>::of(vec![1_u64; 8]).ok()));
        let busy = Busy(this.as_obj(), UArray::<u64>::of(vec![1_u64; 8]).ok());
        drop(task::spawn(Module, async move {
            let _busy = busy;
            std::future::pending::<()>().await;
        }));
        let busy = Busy(this.as_obj(), UArray::<u64>::of(vec![1_u64; 8]).ok());
        drop(timer::every(Module, Duration::from_secs(3600), move |_| {
            let _busy = &busy;
        }));
    }

    #[ufunction(blueprint_callable)]
    async fn count_to(this: Obj<Self>, ticks: u32, how: u32) -> Result<u32, String> {
        for at in 0..ticks {
            next_tick().await;
            let _counted = this.with(|this| this.set_count(this.count() + 1));
            if how == 1 && at == 3 {
                let _gone = this.with(|this| this.destroy());
            }
            if how == 2 && at == 3 {
                panic!("in a task")
            }
        }
        delay(Duration::from_millis(1)).await;
        if how == 3 { Err("in vain".into()) } else { Ok(ticks) }
    }

    #[ufunction(blueprint_callable)]
    fn done(&self, this: This<Self>, number: u32, words: String) {
        note(format!("done {number} {words}"));
        let _again = this.try_set_count(1000);
        here(23);
    }

    #[ufunction(blueprint_callable)]
    fn begin_counts(&self, this: This<Self>, other: Obj<Foe>) {
        for how in 0..4 {
            let _begun = this.try_count_to(6, how, (other, "done"));
        }
        let _begun = this.get(other).map(|it| it.try_count_to(6, 1, (this.as_obj(), "done")));
    }

    #[ufunction(blueprint_callable)]
    fn bind(&self, this: This<Self>, other: Obj<Foe>) {
        this.on_told().bind(this.as_obj(), "hear");
        this.on_told().bind(other, "hear");
        this.ask().bind(other, "asked");
    }

    #[ufunction(blueprint_callable)]
    fn broadcast(&self, this: This<Self>, number: u32) -> String {
        format!("{:?} {:?}", this.on_told().try_broadcast((number,)), this.ask().call((number,)).map_err(|e| e.kind()))
    }

    #[ufunction(blueprint_callable)]
    fn each(&self, this: This<Self>, others: UArray<Obj<Foe>>) -> String {
        let poke = match ZMethod::<(u64,), u64>::find("uf:/Script/Game.Foe:poke") {
            Ok(poke) => poke,
            Err(error) => return error.to_string(),
        };
        let all: Vec<Obj<Foe>> = this.open(&others).iter().collect();
        match poke.call_each(&all, (1,)) {
            Ok(each) => format!("{} of {}", each.failed().len(), all.len()),
            Err(error) => error.to_string(),
        }
    }
}

#[zmethods]
impl Foe {
    #[zmethod]
    fn sum(one: u64, two: u64) -> u64 {
        one.wrapping_add(two)
    }
}
