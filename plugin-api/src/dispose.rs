//! Resources that are dropped when the module is unloaded, for example resources opened by `main`. A plugin author registers such a
//! resource instead of storing it in a static variable.

use std::any::{Any, type_name_of_val};
use std::cell::Cell;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_rt::catch_panics;

/// Maximum number of drop rounds. Each round after the first drops the resources that the drops of the previous round have registered.
const ROUNDS: u32 = 16;

/// Maximum nesting depth of late drops. A resource beyond this depth is leaked, since drops that each register a further resource would
/// otherwise recurse without end.
const DEPTH: u32 = 64;

struct Resources {
    kept: Vec<Box<dyn Any + Send>>,
    /// Resources leaked since the last report, one entry per type and location.
    leaked: Vec<Leaked>,
    is_closed: bool,
}

/// Resource that was leaked after [`ROUNDS`] and [`DEPTH`] were exceeded, because each drop had registered a further resource.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Leaked {
    type_name: &'static str,
    location: &'static Location<'static>,
}

static RESOURCES: Mutex<Resources> = Mutex::new(Resources { kept: Vec::new(), leaked: Vec::new(), is_closed: false });

thread_local! {
    static DEPTH_HERE: Cell<u32> = const { Cell::new(0) };
}

/// Keeps `resource` until the module is unloaded. The thread that runs the exit hook, in the Master the game thread, drops all kept
/// resources immediately after this hook, in reverse order of registration. Callable on any thread.
///
/// Returns true if the resource was kept. A drop may register further resources, which are dropped in further rounds, up to a limit. A
/// resource that is registered after the last round is dropped immediately, and the function returns false. If each drop registers a
/// further resource, the last resource is leaked, and the unload report names its type and the location of its `auto_dispose` call.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::auto_dispose;
///
/// /// Server that is stopped when the module is unloaded.
/// struct Server;
///
/// impl Drop for Server {
///     fn drop(&mut self) {
///         tracing::info!("the server stops");
///     }
/// }
///
/// /// Main of a module.
/// fn started() {
///     assert!(auto_dispose(Server), "the module is not unloaded yet");
/// }
/// # started();
/// ```
#[track_caller]
pub fn auto_dispose(resource: impl Send + 'static) -> bool {
    {
        let mut resources = lock();
        if !resources.is_closed {
            resources.kept.push(Box::new(resource));
            return true;
        }
    }
    let depth = DEPTH_HERE.get();
    if depth >= DEPTH {
        let leaked = Leaked { type_name: type_name_of_val(&resource), location: Location::caller() };
        std::mem::forget(resource);
        let known = &mut lock().leaked;
        if !known.contains(&leaked) {
            known.push(leaked);
        }
        return false;
    }
    DEPTH_HERE.set(depth + 1);
    let _deeper = Deeper;
    drop(resource);
    false
}

struct Deeper;

impl Drop for Deeper {
    fn drop(&mut self) {
        DEPTH_HERE.set(DEPTH_HERE.get() - 1);
    }
}

/// Drops all kept resources. Adds a panic in a drop to `failure`, and continues with the remaining drops. Resources that are registered
/// later are dropped immediately.
pub(crate) fn dispose_all(failure: &mut Failure) -> Status {
    let mut status = Status::OK;
    for round in 1..=ROUNDS {
        let batch = {
            let mut resources = lock();
            resources.is_closed = round == ROUNDS || resources.kept.is_empty();
            std::mem::take(&mut resources.kept)
        };
        if batch.is_empty() {
            break;
        }
        for resource in batch.into_iter().rev() {
            let mut found = Failure::none();
            let outcome = catch_panics(&mut found, || {
                drop(resource);
                Ok(())
            });
            if outcome != Status::OK {
                add(failure, found);
                status = Status::FAILED;
            }
        }
    }
    let leaked = std::mem::take(&mut lock().leaked);
    for Leaked { type_name, location } in leaked {
        let message = format!(
            "leaked a resource: each drop of `{type_name}`, passed to `auto_dispose` at {}:{}, registers another",
            location.file(),
            location.line()
        );
        match failure.kind {
            FailureKind::NONE => *failure = Failure::new(FailureKind::OTHER, message),
            _ => failure.message = format!("{}; then it {message}", failure.message).into(),
        }
        status = Status::FAILED;
    }
    status
}

/// Adds a failure to the combined failure. The first failure determines the location; each later failure adds only its message.
fn add(failure: &mut Failure, found: Failure) {
    if failure.kind == FailureKind::NONE {
        *failure = found;
        failure.message = format!("dropping an auto-disposed resource: {}", failure.message).into();
    } else {
        failure.message = format!("{}; then: {}", failure.message, found.message).into();
    }
}

fn lock() -> MutexGuard<'static, Resources> {
    RESOURCES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use alcedo_abi::call::{Failure, FailureKind, Status};

    use super::{DEPTH, ROUNDS, auto_dispose, dispose_all};

    type Log = Arc<Mutex<Vec<String>>>;

    struct Named(&'static str, Log);

    impl Drop for Named {
        fn drop(&mut self) {
            self.1.lock().expect("no thread panics while holding the lock").push(self.0.to_owned());
            if self.0 == "adds one" {
                assert!(auto_dispose(Named("added", Arc::clone(&self.1))));
            }
            if self.0 == "panics" {
                panic!("it would not go");
            }
        }
    }

    /// Value whose `Drop` registers a further `Endless` value.
    struct Endless(Log, u32);

    impl Drop for Endless {
        fn drop(&mut self) {
            self.0.lock().expect("no thread panics while holding the lock").push(format!("endless {}", self.1));
            auto_dispose(Endless(Arc::clone(&self.0), self.1 + 1));
        }
    }

    // A single test covers all cases, because the list of resources belongs to the whole module and is closed only once.
    #[test]
    fn resources_drop_in_reverse_order_with_bounded_rounds_and_late_ones_immediately() {
        let log = Log::default();
        let take = || std::mem::take(&mut *log.lock().expect("no thread panics while holding the lock"));
        for name in ["first", "adds one", "panics"] {
            assert!(auto_dispose(Named(name, Arc::clone(&log))));
        }
        let mut failure = Failure::none();
        assert_eq!(dispose_all(&mut failure), Status::FAILED);
        assert_eq!(failure.message.as_str(), "dropping an auto-disposed resource: it would not go");
        assert_eq!(take(), ["panics", "adds one", "first", "added"]);

        assert!(!auto_dispose(Named("late", Arc::clone(&log))), "it is closed");
        assert_eq!(take(), ["late"]);

        super::lock().is_closed = false;
        auto_dispose(Endless(Arc::clone(&log), 1));
        let mut failure = Failure::none();
        assert_eq!(dispose_all(&mut failure), Status::FAILED);
        let last = take().pop();
        assert_eq!(last, Some(format!("endless {}", ROUNDS + DEPTH)), "one in each round, then nested, then no more");
        let (type_name, file) = (std::any::type_name::<Endless>(), file!());
        let reported = failure.message.as_str().to_owned();
        let named = format!("leaked a resource: each drop of `{type_name}`, passed to `auto_dispose` at {file}:");
        assert!(failure.kind == FailureKind::OTHER && reported.starts_with(&named), "{reported}");
        assert_eq!(dispose_all(&mut Failure::none()), Status::OK, "the leak is reported once");
    }
}
