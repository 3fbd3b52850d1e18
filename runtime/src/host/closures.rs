//! Host closures that are bound to delegates. Because a delegate stores an object and a function name, the object belongs to a generated
//! native class that represents the closure. The first binding of a closure with a new signature declares the class for this signature.

use std::any::TypeId;
use std::fmt;
use std::rc::Rc;

use crate::boundary::CallError;
use crate::callback::{CLOSURE, Guarded, Registered, Site};
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::kinds::class_flags;
use crate::native::{Delegate, Signature};
use crate::object::construction::make_cdo;
use crate::object::decl::{Batch, ClassDecl, FunctionDecl};
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::object::origin::Origin;
use crate::object::thunk::{Frame, Thunk};
use crate::panic_guard::caught;
use crate::runtime::{Runtime, WeakRuntime};

const PACKAGE: &str = "Core";

/// Name of the function that calls a closure.
pub(super) const CALL: &str = "call";

type Closure<A, R> = dyn Fn(&Runtime, A) -> Result<R, CallError>;

/// Keeps a closure bound to a delegate until this value is dropped. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::host::Listener;
///
/// let runtime = Runtime::builder().build()?;
/// let rule = Listener::of(&runtime, |_, (times,): (u32,)| Ok(times <= 4))?;
/// let may_ring = rule.delegate::<fn(u32) -> bool>()?;
/// assert!(may_ring.call(runtime.world(), (3,))?);
/// drop(rule);
/// assert!(may_ring.call(runtime.world(), (3,)).is_err());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[must_use = "the closure is bound until this is dropped"]
pub struct Listener {
    runtime: WeakRuntime,
    pub(super) object: ObjectHandle,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a closure of the host, as object {}", self.object)
    }
}

impl Listener {
    /// Returns a delegate value that is bound to the closure. Call arguments can use this value: `Listener::of(&runtime, |_, (done,)|
    /// …)?.delegate()`.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the closure has a different signature. Returns [`CallError::Stale`] if a saved world was loaded
    /// after the binding, and [`CallError::Unavailable`] if the runtime was dropped.
    pub fn delegate<F: Signature>(&self) -> Result<Delegate<F>, Error> {
        let ended = || CallError::Unavailable { what: "the runtime of the closure".to_owned() };
        self.runtime.upgrade().ok_or_else(ended)?.links().delegate(self.object, CALL)
    }

    /// Creates a listener for a closure, without a binding to a delegate. See [`DelegateOf::listen`](super::DelegateOf::listen).
    ///
    /// # Errors
    /// Returns [`Error::NotASafePoint`] if plugin code is on the stack and no closure with this signature exists yet. Also returns this error
    /// if plugin code is on the stack and a reload has changed a struct of the signature.
    #[track_caller]
    pub fn of<A: ValueParams, R: NativeResult>(
        runtime: &Runtime,
        closure: impl Fn(&Runtime, A) -> Result<R, CallError> + 'static,
    ) -> Result<Self, Error> {
        let class = class_of::<A, R>(runtime)?;
        let object = runtime.objects().spawn(&class)?;
        let listener = Self { runtime: runtime.downgrade(), object };
        let site = Site::new("closure of a delegate", &closure);
        let closure = Guarded::new(closure);
        let closure: Rc<Closure<A, R>> = Rc::new(move |runtime: &Runtime, arguments: A| closure(runtime, arguments));
        runtime.closures().bound.borrow_mut().insert(object, Registered { code: Rc::new(closure), site });
        Ok(listener)
    }

    /// Returns `true` while the closure can be called. Dropping the runtime or loading a saved world ends the binding.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.runtime.upgrade().is_some_and(|runtime| runtime.objects().is_alive(self.object))
    }
}

impl Drop for Listener {
    /// Destroys the object of the closure. Delegates skip and remove bindings to destroyed objects.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.upgrade() else { return };
        let closure = runtime.closures().bound.borrow_mut().remove(&self.object);
        let object = self.object;
        // Defers a destruction that is refused during a reload, or while plugin code borrows a slice of host memory. A rollback could not
        // undo the destruction.
        if !matches!(runtime.core().end_object(object), Ok(()) | Err(CallError::Stale { .. })) {
            let _posted = runtime.post_handle().post(move |runtime| runtime.objects().destroy(object));
        }
        // Drops the closure last, because the destructors of the captures may use the runtime.
        drop(closure);
    }
}

/// Returns the class for closures with these types. Declares the class on first use, and after a reload has changed a struct of the types.
fn class_of<A: ValueParams, R: NativeResult>(runtime: &Runtime) -> Result<String, Error> {
    let id = TypeId::of::<(A, R)>();
    let (types, closures) = (&runtime.core().world.types, runtime.closures());
    let is_current = |path: &String| {
        let class = types.class_by_path(path);
        class.is_some_and(|class| class.find_function(CALL).is_some_and(|call| types.have_layout_of(call)))
    };
    let known = closures.classes.borrow().get(&id).cloned();
    if let Some(known) = known.filter(is_current) {
        return Ok(known);
    }
    let signature = signature_of::<A, R>()?;
    let _busy = runtime.exclusively("binding a closure")?;
    closures.declared.set(closures.declared.get() + 1);
    let name = format!("{CLOSURE}{}", closures.declared.get());
    let names: Vec<_> = (0..A::COUNT).map(|at| format!("value{at}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let params = A::declared(&names).into_iter().chain(R::declared()).collect();
    let call = FunctionDecl { params, ..FunctionDecl::new(CALL, thunk::<A, R>(runtime.downgrade())) };
    let mut decl = ClassDecl::new(PACKAGE, &name, "/Script/Core.Object", Origin::Native);
    decl.flags = class_flags::FINAL;
    decl.doc = format!("A closure of the host: ({signature}).");
    decl.functions = vec![call];
    let core = runtime.core();
    let declared = core.world.types.declare(&core.world.names, &Batch { classes: vec![decl], ..Batch::default() })?;
    for class in &declared.classes {
        make_cdo(&core.world, &core.plugins(), class)?;
    }
    let path = format!("/Script/{PACKAGE}.{name}");
    closures.classes.borrow_mut().insert(id, path.clone());
    Ok(path)
}

/// Returns the thunk of a closure class. The thunk uses the receiver object of the call to look up the closure.
fn thunk<A: ValueParams, R: NativeResult>(runtime: WeakRuntime) -> Thunk {
    Rc::new(move |_context, frame: &mut Frame<'_>| {
        let gone = || CallError::Unavailable { what: "the closure of the host".to_owned() };
        let runtime = runtime.upgrade().ok_or_else(gone)?;
        let closure = runtime.closures().bound.borrow().get(&frame.object()).map(|found| Rc::clone(&found.code));
        let closure = closure.and_then(|closure| closure.downcast::<Rc<Closure<A, R>>>().ok()).ok_or_else(gone)?;
        let (arguments, _none_comes_back) = A::take(frame)?;
        frame.finish()?;
        let returned = caught(|| closure(&runtime, arguments))
            .map_err(|message| CallError::Panicked { message, place: None })??;
        returned.give(frame)
    })
}
