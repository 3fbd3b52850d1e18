//! Values that access host memory when they are dropped late: values in closures, thread-locals, statics, exit hooks, plugin parts.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alcedo_plugin_api::auto_dispose;
use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Module, delay, post};
use engine_glue::Actor;

/// Period that is longer than any test.
const NEVER: Duration = Duration::from_secs(3_600);

thread_local! {
    static HERE: RefCell<Vec<Probe>> = const { RefCell::new(Vec::new()) };
}

/// Values that the exit hook takes and drops.
static DROPPED_AT_EXIT: Mutex<Vec<Probe>> = Mutex::new(Vec::new());

static FORGOTTEN: Mutex<Vec<Probe>> = Mutex::new(Vec::new());

fn log_line(line: &str) {
    tracing::info!(target: "ends", "{line}");
}

pub(crate) fn started() {
    let is_armed = fixture::on!("armed-main") || fixture::on!("panicking-main");
    if is_armed || fixture::on!("failing-red") || fixture::on!("failing-default") {
        arm("main");
    }
    if fixture::on!("panicking-main") {
        let _unwound = Probe::new("the stack of main");
        panic!("broken on purpose: main");
    }
}

pub(crate) fn ended() {
    let dropped = std::mem::take(&mut *DROPPED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner));
    let _local = (!dropped.is_empty()).then(|| Probe::try_new("the exit hook"));
    drop(dropped);
}

/// Stores an owned value in every location whose values may be dropped late.
fn arm(by: &'static str) {
    let name = |label: &str| format!("{label} of {by}");
    let held = Probe::new(name("a timer"));
    timer::every(Module, NEVER, move |_module| held.inspect());
    let held = Probe::new(name("a timer that comes once"));
    timer::after(Module, NEVER, move |_module| held.inspect());
    let held = Probe::new(name("a task"));
    task::spawn(Module, async move {
        delay(NEVER).await;
        held.inspect();
    });
    let held = Probe::new(name("a task that waits for nothing"));
    task::spawn(Module, async move {
        std::future::pending::<()>().await;
        held.inspect();
    });
    let held = Probe::new(name("a post"));
    post(move || drop(held)).unwrap_or_else(|error| panic!("{error}"));
    HERE.with_borrow_mut(|here| here.push(Probe::new(name("a thread-local"))));
    DROPPED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner).push(Probe::new(name("a static")));
    FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner).push(Probe::new(name("a static that is never dropped")));
    auto_dispose(Probe::new(name("an auto-disposed resource")));
    // Stores values in a nested closure, and in a closure that starts another timer when it is dropped.
    let inner = Probe::new(name("a closure in a closure"));
    let outer = move || inner.inspect();
    timer::every(Module, NEVER, move |_module| outer());
    let again = Again(Some(Probe::new(name("a closure that begins another"))));
    timer::every(Module, NEVER, move |_module| {
        let _again = &again;
    });
}

/// Owns values in host memory. The drop of a probe uses these values in every possible way.
struct Probe {
    label: String,
    list: UArray<UString>,
    twin: UArray<UString>,
    map: UMap<UString, u64>,
    actor: Obj<Actor>,
}

impl Probe {
    fn new(label: impl Into<String>) -> Self {
        Self::try_new(label).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_new(label: impl Into<String>) -> Result<Self, CallError> {
        let label = label.into();
        let long = format!("{label}: long enough to be in a block of its own, so that it is freed with the value");
        let list = UArray::<UString>::new()?;
        let list = list.try_clone().and_then(|_| format!("(\"{long}\", \"two\")").parse())?;
        let mut map = UMap::new()?;
        map.clone_from(&[("one", 1)].into_iter().collect());
        Ok(Self { twin: UArray::clone(&list), list, map, actor: Obj::none(), label })
    }

    fn inspect(&self) {
        let quietly = |what: &dyn Fn() -> String| {
            let result = catch_unwind(AssertUnwindSafe(what));
            result.unwrap_or_else(|_| "the call fails".to_owned())
        };
        let expected = format!("(\"{}: long enough to be in a block", self.label);
        let checked = |text: String| {
            let is_right = text.starts_with(&expected) && text.ends_with("\"two\")");
            if is_right { "right".to_owned() } else { text }
        };
        let results = [
            ("expired", quietly(&|| self.list.is_expired().to_string())),
            ("display", quietly(&|| checked(self.list.to_string()))),
            ("debug", quietly(&|| checked(format!("{:?}", self.list)))),
            ("equal", quietly(&|| (self.list == self.twin).to_string())),
            ("unequal", quietly(&|| (self.list == UArray::default()).to_string())),
            ("map", quietly(&|| self.map.to_string())),
            ("clone", quietly(&|| self.list.try_clone().map_or_else(kind, |copy| checked(copy.to_string())))),
            ("number", quietly(&|| AnyConjugate::of(&self.list).type_text().unwrap_or_else(kind))),
            (
                "frame",
                quietly(&|| {
                    self.actor.with(|this| this.open(&self.list).len()).map_or_else(kind, |len| len.to_string())
                }),
            ),
            ("late", quietly(&|| UArray::<UString>::new().map_or_else(kind, |_| "made".to_owned()))),
            ("post", quietly(&|| post(|| ()).map_or_else(kind, |()| "taken".to_owned()))),
        ];
        let results: Vec<_> = results.into_iter().map(|(what, result)| format!("{what} {result}")).collect();
        log_line(&format!("{} · {}", self.label, results.join(" · ")));
    }
}

/// Returns the kind of an error, because messages contain numbers and ages.
fn kind(error: CallError) -> String {
    let kinds = [
        (FailureKind::STALE, "STALE"),
        (FailureKind::WRONG_THREAD, "WRONG_THREAD"),
        (FailureKind::NOT_FOUND, "NOT_FOUND"),
        (FailureKind::UNAVAILABLE, "UNAVAILABLE"),
        (FailureKind::EXPIRED, "EXPIRED"),
        (FailureKind::OTHER, "OTHER"),
    ];
    let known = kinds.into_iter().find(|(kind, _)| *kind == error.kind());
    known.map_or_else(|| error.to_string(), |(_, name)| name.to_owned())
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.inspect();
    }
}

/// Passes the wrapped value to a new timer on drop. The host must refuse this timer during destruction.
struct Again(Option<Probe>);

impl Drop for Again {
    fn drop(&mut self) {
        let held = self.0.take();
        let begun = timer::try_every(Module, NEVER, move |_module| {
            let _held = &held;
        });
        if begun.is_ok() {
            log_line("a timer was started during destruction");
        }
    }
}

/// Panics on drop if the flag is set.
struct Fails(bool);

impl Drop for Fails {
    fn drop(&mut self) {
        assert!(!self.0, "broken on purpose: drop");
    }
}

/// Object whose plugin part uses its values when it is finalized. The methods of the object open the values that the object keeps.
#[uclass(package = "Game", base = Object)]
pub struct Hoarder {
    kept: Option<Probe>,
    numbers: Option<UArray<u64>>,
}

#[uclass]
impl Hoarder {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        let is_template = this.name().starts_with("Default__");
        let kept = if is_template { None } else { Some(Probe::new("a plugin part")) };
        assert!(!fixture::on!("failing-red") || is_template, "broken on purpose: red constructor");
        assert!(!fixture::on!("failing-default") || !is_template, "broken on purpose: default object");
        Self { kept, numbers: None }
    }

    /// Stores an owned value in every location.
    #[ufunction(blueprint_callable)]
    fn hold(&self) {
        arm("a method");
    }

    /// Starts timers that panic. With `in_turn`, a timer panics when it fires. Otherwise it panics when it is dropped with its object.
    #[ufunction(blueprint_callable)]
    fn leave_failures(&self, this: This<Self>, in_turn: bool) {
        for _ in 0..2 {
            let held = (Probe::new("a timer that fails"), Fails(!in_turn));
            timer::every(this, if in_turn { Duration::ZERO } else { NEVER }, move |_this| {
                let held = &held;
                held.0.inspect();
                assert!(!in_turn, "broken on purpose: timer");
            });
        }
    }

    /// Creates an array of numbers, and stores it in the plugin part.
    #[ufunction(blueprint_callable)]
    fn keep_numbers(&mut self) {
        self.numbers = Some(UArray::of([1_u64, 2, 3]).unwrap_or_else(|error| panic!("{error}")));
    }

    /// Opens the stored array, changes it, and returns the sum of its numbers.
    #[ufunction(blueprint_callable)]
    fn grow_numbers(&self, this: This<Self>) -> u64 {
        let Some(numbers) = &self.numbers else { return 0 };
        let numbers = this.open(numbers);
        numbers.push(4);
        numbers.iter().sum()
    }

    /// Returns the number by which the host identifies the stored array.
    #[ufunction(blueprint_callable)]
    fn number_of_numbers(&self) -> u64 {
        self.numbers.as_ref().map_or(0, |numbers| AnyConjugate::of(numbers).number())
    }

    /// Tries to release the open array by its number. Returns the array's sums before and after the attempt.
    #[ufunction(blueprint_callable)]
    fn drop_while_open(&self, this: This<Self>) -> String {
        let Some(numbers) = &self.numbers else { return "no value was kept".to_owned() };
        let open = this.open(numbers);
        let before: u64 = open.iter().sum();
        let again = AnyConjugate::from_number(AnyConjugate::of(numbers).number());
        drop(again);
        format!("{before} {}", open.iter().sum::<u64>())
    }

    /// Spawns another object of this class.
    #[ufunction(blueprint_callable)]
    fn breed(&self, this: This<Self>) -> String {
        let created = this.spawn::<Self>(Obj::none());
        created.map_or_else(
            |error| error.to_string(),
            |created| this.get(created).map_or_else(kind, |created| created.name()),
        )
    }

    /// Returns `true` if this object still holds its constructed values.
    #[ufunction(blueprint_callable)]
    fn is_whole(&self, this: This<Self>) -> bool {
        self.kept.as_ref().is_some_and(|kept| this.open(&kept.list).len() == 2 && !kept.list.is_expired())
    }
}

#[cfg(feature = "doomed")]
mod doomed {
    use alcedo_plugin_api::prelude::*;

    use crate::teller::Teller;

    /// Class whose native base reports its destruction to the test.
    #[uclass(package = "Game", base = Teller)]
    pub struct Doomed {}
}
