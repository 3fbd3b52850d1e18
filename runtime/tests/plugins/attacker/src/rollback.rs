//! Code of a new build that tries every operation before its reload is committed. If the reload fails, no operation may leave an effect.
//! The outcome of each attempt is logged under the target `greedy`.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Module, post};
use engine_glue::{Actor, Vector};

static HAS_GRABBED: AtomicBool = AtomicBool::new(false);

fn log_outcome(what: &str, outcome: Result<(), CallError>) {
    let outcome = match outcome {
        Ok(()) => "done".to_owned(),
        Err(refused) if refused.kind() == FailureKind::DURING_REBUILD => "refused".to_owned(),
        Err(other) => other.to_string(),
    };
    tracing::info!(target: "greedy", "{what}: {outcome}");
}

/// Returns `true` for the name of a class default object.
fn is_template(name: &str) -> bool {
    name.starts_with("Default__")
}

/// Schedules a post, a timer, a task, and a post from another thread. Each of them logs a line when it runs.
fn leave(whose: &'static str) {
    let work = move |what: &str| tracing::info!(target: "greedy", "{what} of the {whose} ran");
    log_outcome(&format!("post of the {whose}"), post(move || work("post")));
    let _timer = timer::after(Module, Duration::ZERO, move |_module| work("timer"));
    task::spawn(Module, async move { work("task") });
    let _elsewhere = std::thread::spawn(move || post(move || work("post of a thread"))).join();
}

/// Operations that `main` tries in the build with the switch `grabs`.
pub(super) fn started() {
    if fixture::on!("grabs") {
        log_outcome("a black of the main", UArray::<u64>::of([1, 2, 3]).map(drop));
        leave("main");
    }
}

/// Logs that the exit hook ran, in the build with the switch `grabs`.
pub(super) fn ended() {
    if fixture::on!("grabs") {
        tracing::info!(target: "greedy", "the exit hook ran");
    }
}

/// Class whose constructors try every operation.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Greedy {
    /// Counter visible to the host.
    #[uproperty]
    loot: u64,
    /// Reference by id.
    #[uproperty]
    known: LazyObject<Actor>,
    /// Listeners that this delegate calls.
    #[uproperty]
    calls: MulticastDelegate<fn()>,
    /// Counter that is stored in the plugin part only.
    count: u64,
}

#[uclass]
impl Greedy {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        // Only the first rebuilt object tries the operations. Otherwise each construction would cause a further construction, endlessly.
        if fixture::on!("grabs") && !is_template(&this.name()) && !HAS_GRABBED.swap(true, Ordering::Relaxed) {
            grab(this);
        }
        Self { count: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        if fixture::on!("grabs") && is_template(&this.name()) {
            log_outcome("class constructor: a host function", this.zcall("ex:/host.tally", (1_u64,)));
            log_outcome("class constructor: a birth", this.spawn::<Self>(Obj::none()).map(drop));
            leave("class constructor");
        }
    }

    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        if fixture::on!("grabs") && is_template(&this.name()) {
            log_outcome("PostInitProperties: a host function", this.zcall("ex:/host.tally", (1_u64,)));
        }
    }

    /// Increments the counter and returns the new value.
    #[ufunction(blueprint_callable)]
    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Returns the counter.
    #[ufunction(blueprint_pure)]
    fn counted(&self) -> u64 {
        self.count
    }

    /// Spawns another object of this class.
    #[ufunction(blueprint_callable)]
    fn nest(&self, this: This<Self>) -> Obj<Object> {
        let created: Obj<Self> = this.spawn(Obj::none()).unwrap_or_else(|error| panic!("{error}"));
        created.as_object()
    }

    /// Increments the counter. The class's own code calls this function.
    #[ufunction(blueprint_callable)]
    fn count_on(&mut self) {
        self.count += 1;
    }
}

/// Tries every operation with an outside effect. `victim` must remain unchanged. `other` belongs to a module that is not reloaded.
fn grab(this: This<'_, Greedy>) {
    log_outcome("a read of the host", this.zcall("ex:/host.now", ()).map(|_now: u64| ()));
    log_outcome("a host function", this.zcall("ex:/host.tally", (1_u64,)));
    log_outcome("a host function, by dynamic call", this.zcall_any("ex:/host.tally", (1_u64,)));
    let victim = this.zcall::<_, Obj<Actor>>("ex:/host.victim", ()).and_then(|victim| this.get(victim));
    let other = this.zcall::<_, Obj<Actor>>("ex:/host.other", ()).and_then(|other| this.get(other));
    let (Ok(victim), Ok(other)) = (victim, other) else {
        return tracing::info!(target: "greedy", "the host has no victim");
    };
    log_outcome("a pure function of the host's", victim.try_describe().map(drop));
    log_outcome("a function of the host's", victim.try_add_location(Vector::up(1.0)));
    log_outcome("the same on itself", this.as_base().try_add_location(Vector::up(1.0)));
    log_outcome("a method of a module that stays", other.zcall("uf:/Script/Game.MagicCube:say_hello", ()));
    log_outcome("the same, final", other.zcall("uf!:/Script/Game.MagicCube:say_hello", ()));
    log_outcome("the same, as a method", other.zcall_any("nm:/magic_cube:MagicCube:say_hello", (other.as_obj(),)));
    log_outcome("a pure one of it", other.zcall("uf:/Script/Game.MagicCube:greeting_count", ()).map(|_count: u32| ()));
    log_outcome("a static one of it", this.zcall("nm:/magic_cube:MagicCube:build_tag", ()).map(|_tag: u64| ()));
    log_outcome("a property of another", victim.try_set_can_tick(true));
    log_outcome("the same, by name", victim.write_property("up:/Script/Engine.Actor:can_tick", &true));
    log_outcome(
        "the same, by dynamic call",
        victim.zcall_any("up:/Script/Engine.Actor:can_tick", (victim.as_obj(), 1_u8, true)),
    );
    log_outcome("a text of another", victim.try_set_label("robbed"));
    log_outcome("a delegate of its own, bound", this.calls().try_bind(other.as_obj(), "say_hello"));
    log_outcome("the same, called", this.calls().try_broadcast(()));
    log_outcome("the name of another", victim.rename("Robbed", Obj::none()));
    log_outcome("its own name", this.rename("Grabbed", Obj::none()));
    log_outcome("a birth", this.spawn::<Greedy>(Obj::none()).map(drop));
    log_outcome("a birth of a class that stays", this.spawn::<Actor>(Obj::none()).map(drop));
    log_outcome("the end of another", victim.destroy());
    log_outcome("its own end", this.destroy());
    log_outcome("a collection", this.collect_garbage());
    log_outcome("its own property", this.try_set_loot(this.loot() + 1));
    log_outcome("an id of another", this.known().try_set(victim.as_obj()));
    log_outcome("its own method", this.zcall("uf:/Script/Game.Greedy:count_on", ()));
    log_outcome("a black", UArray::<u64>::of([1, 2, 3]).map(drop));
    leave("red constructor");
}

/// Class whose red constructor writes to its existing object in each rebuild. The class declaration does not change between builds, so the
/// object keeps its host memory.
#[uclass(package = "Game", base = Object)]
pub struct Notched {
    /// Number of rebuilds.
    #[uproperty]
    notches: u32,
    /// Number of rebuilds as a string. The string owns memory.
    #[uproperty]
    label: String,
}

#[uclass]
impl Notched {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        if !is_template(&this.name()) {
            this.set_notches(this.notches() + 1);
            this.set_label(format!("{} notches", this.notches()));
        }
        Self {}
    }
}

/// Class whose red constructor posts an announcement for each plugin part.
#[uclass(package = "Game", base = Object)]
pub struct Announcer {}

#[uclass]
impl Announcer {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        if !is_template(&this.name()) {
            log_outcome("an announcement", post(|| tracing::info!(target: "greedy", "it is announced")));
        }
        Self {}
    }
}
