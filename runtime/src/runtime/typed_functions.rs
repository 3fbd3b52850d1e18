//! Host functions that are registered with Rust types. Calls of these functions create no `Value`. Plugins call the code of these functions
//! directly. The function body and its panic guard are compiled for the types of the signature.
//!
//! Direct calls in a red frame use the host and the body without counting references. A host ends only after the outermost red frame has
//! closed. Counting would cost two dependent writes.
#![expect(unsafe_code, reason = "follows the context that is stored with the code, and reads the state of a red frame")]

use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::direct::DirectAnswer;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::host_direct::DirectBody;
use alcedo_abi::kinds::PropertyKind;

use super::kept_body::{KeptBody, ended};
use super::protocols::TakeBody;
use super::{Calls, Runtime, WeakRuntime};
use crate::boundary::{CallError, SourcePlace};
use crate::bridge::call_cache::is_plain;
use crate::bridge::dynamic_call::{self, Effect};
use crate::bridge::fast_paths::FastPaths;
use crate::bridge::host_direct::{NOT_DONE, failed, guarded, in_no_slot, to_answer};
use crate::bridge::module_code::address;
use crate::callback::Site;
use crate::error::Error;
use crate::object::native_value::{NativeResult, NativeReturned, ValueParams, signature_of};
use crate::signature::Signature;
use crate::zcall::black_code::{BlackCode, LeafCode};
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Call, Resolved};

impl Calls<'_> {
    /// Registers a typed host function as `ex:/name`. Parameters and result must be numbers, `bool` or names. Calls create no
    /// [`Value`](crate::Value), and plugins call the code directly. In all other respects, the function works like a function of
    /// [`Calls::register`].
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_typed("host.double", |_, (number,): (i64,)| number * 2)?;
    /// let double = runtime.function::<(i64,), i64>("ex:/host.double")?;
    /// assert_eq!(double.call((21,))?, 42);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the name is used or invalid.
    #[track_caller]
    pub fn register_typed<A: ValueParams, R: NativeReturned + 'static>(
        &self,
        name: &str,
        body: impl Fn(&Runtime, A) -> R + 'static,
    ) -> Result<(), Error> {
        let site = Site::new("registered function", &body);
        self.register_own::<A, R, _>(name, Effect::Any, site, body)
    }

    /// Registers a leaf: a function that depends only on its parameters and has no access to the runtime. `body` must be a `fn` item or a
    /// closure without captures. Plugins call a leaf by its address. A leaf call is the fastest call into the host. The caller guarantees
    /// that a leaf has no side effects. During a reload, new code can therefore call the leaf before the commit; see
    /// [`Calls::register_pure`]. Modules of Slims, pinned contexts and the Default can also call the leaf, on any thread.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_leaf("host.mix", |(from, to, at): (f64, f64, f64)| from + (to - from) * at)?;
    /// let mix = runtime.function::<(f64, f64, f64), f64>("ex:/host.mix")?;
    /// assert_eq!(mix.call((1.0, 3.0, 0.25))?, 1.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the name is used or invalid.
    #[track_caller]
    pub fn register_leaf<A: ValueParams, R: NativeResult, F>(&self, name: &str, body: F) -> Result<(), Error>
    where
        F: Fn(A) -> R + Copy + Send + Sync + 'static,
    {
        const { assert!(size_of::<F>() == 0, "a leaf captures nothing: take `register_typed` for a closure that does") }
        let site = Site::new("registered function", &body);
        self.register_stateless::<A, R, F>(name, Effect::Pure, site, body)
    }

    fn register_stateless<A: ValueParams, R: NativeResult, F>(
        &self,
        name: &str,
        effect: Effect,
        site: Site,
        body: F,
    ) -> Result<(), Error>
    where
        F: Fn(A) -> R + Copy + Send + Sync + 'static,
    {
        // SAFETY: the code takes the arguments `A`. `register_code` checks that all of them fit in slots. The code dereferences no context.
        // The bounds of this function allow any thread to run the body.
        let leaf = unsafe { LeafCode::new(address::<A::Bits, LeafBody<F, A, R>>) };
        let kept = Rc::new(KeptBody::new(Rc::new(body)));
        let own = Rc::clone(&kept);
        let run = move |args: A| -> Result<R, CallError> {
            let body = own.share()?;
            Ok(body(args))
        };
        self.register_code(name, effect, site, run, BlackCode::of_leaf(leaf), kept)?;
        self.share_code(name, site, body, Some(leaf))
    }

    /// Registers a function of an entry table for all modules. For modules of the Master, a closure without captures is registered like a
    /// function of [`Calls::register_leaf`], and a closure with captures like a function of [`Calls::register_typed`].
    #[track_caller]
    pub(super) fn register_entry<A: ValueParams, R: NativeResult, F: EntryBody<A, R>>(
        &self,
        name: &str,
        effect: Effect,
        site: Site,
        body: F,
    ) -> Result<(), Error> {
        if size_of::<F>() == 0 {
            let body = Stateless::of(body);
            return self.register_stateless::<A, R, _>(name, effect, site, move |args| body.get().run(args));
        }
        let body = Arc::new(body);
        let shared = Arc::clone(&body);
        self.register_own::<A, R, _>(name, effect, site, move |_: &Runtime, args: A| body.run(args))?;
        self.share_code(name, site, move |args| shared.run(args), None)
    }

    /// Offers a function to modules of Slims, pinned contexts and the Default.
    fn share_code<A: ValueParams, R: NativeResult>(
        &self,
        name: &str,
        site: Site,
        body: impl Fn(A) -> R + Send + Sync + 'static,
        leaf: Option<LeafCode>,
    ) -> Result<(), Error> {
        let (signature, path) = (Signature(signature_of::<A, R>()?), format!("ex:/{name}"));
        let shared = move |buffer: &mut BufferMut<'_>| run_in_slots(buffer, &path, |args| Ok(body(args)));
        self.0.inner.loads.registry.functions.add(name, &signature, site, Box::new(shared), leaf);
        Ok(())
    }

    /// Registers a function that receives the runtime.
    #[track_caller]
    fn register_own<A, R, F>(&self, name: &str, effect: Effect, site: Site, body: F) -> Result<(), Error>
    where
        A: ValueParams,
        R: NativeReturned + 'static,
        F: Fn(&Runtime, A) -> R + 'static,
    {
        let function = Rc::new(Typed::<F, A, R> {
            fast_paths: (*self.0.core().fast_paths).clone(),
            runtime: self.0.downgrade(),
            body: KeptBody::new(Rc::new(body)),
            location: Location::caller(),
            of: PhantomData,
        });
        let context = Rc::clone(&function) as Rc<dyn Any>;
        // SAFETY: the code takes the arguments `A`. `register_code` checks that all of them fit in slots. The context of the code is
        // `function`, which is stored with the code.
        let direct = unsafe { BlackCode::new(address::<A::Bits, Code<F, A, R>>(), Some(context)) };
        let own = Rc::clone(&function);
        self.register_code(name, effect, site, move |args: A| own.run(args), direct, function)
    }

    /// Registers `run` for calls with slots, and `direct` for calls of plugins. The shutdown of the host empties `kept`.
    fn register_code<A: ValueParams, R: NativeResult>(
        &self,
        name: &str,
        effect: Effect,
        site: Site,
        run: impl Fn(A) -> Result<R, CallError> + 'static,
        direct: BlackCode,
        kept: Rc<dyn TakeBody>,
    ) -> Result<(), Error> {
        const {
            assert!(
                is_plain::<A, R>() && !is_object::<R>(),
                "`register_typed` is for numbers, `bool` and names: register a function of other types with `register`"
            );
        }
        let signature = Signature(signature_of::<A, R>()?);
        if !signature.0.arguments.iter().map(|word| Some(word.kind())).eq(A::KINDS.iter().copied()) {
            let message =
                format!("`ex:/{name}` ({signature}): one of its types declares a different kind than the call reads");
            return Err(CallError::other(message).into());
        }
        let (path, mode) = (format!("ex:/{name}"), self.0.core().world.mode.clone());
        let call = move |call: Call<'_>| {
            mode.may_call(&path, || dynamic_call::reach(effect))?;
            run_in_slots::<A, R>(&mut call.into_buffer(), &path, &run)
        };
        let resolved = Resolved::new(signature, call).with_black_code(Some(direct));
        let resolved = if effect == Effect::Pure { resolved.pure() } else { resolved };
        self.0.inner.core.explicit.register(name, resolved)?;
        self.0.inner.keep(kept, site);
        Ok(())
    }
}

/// Runs a function body with arguments from slots, and stores its result in the slot after the arguments.
fn run_in_slots<A: ValueParams, R: NativeResult>(
    buffer: &mut BufferMut<'_>,
    path: &str,
    body: impl FnOnce(A) -> Result<R, CallError>,
) -> Result<(), CallError> {
    let result = R::VALUE.is_some();
    buffer.expect_len(A::COUNT + usize::from(result))?;
    let returned = body(A::from_slots(buffer.slots()).ok_or_else(|| other_arguments(path))?)?;
    if result { buffer.put(A::COUNT, returned.into_slot()) } else { Ok(()) }
}

/// Returns `true` if the result type is an object. The registration rejects object results, because a slot does not specify a class.
const fn is_object<R: NativeResult>() -> bool {
    matches!(R::VALUE, Some((kind, _)) if kind.0 == PropertyKind::OBJECT.0)
}

#[cold]
fn other_arguments(path: &str) -> CallError {
    CallError::Buffer { message: format!("`{path}`: a slot holds another type than its signature states") }
}

/// A registered function that receives the runtime. The shutdown of the host removes and drops the body.
struct Typed<F, A, R> {
    /// State of the fast paths. Direct calls use this state to check that a red frame is open.
    fast_paths: FastPaths,
    runtime: WeakRuntime,
    body: KeptBody<F>,
    /// Registration site. Errors of the function contain this location.
    location: &'static Location<'static>,
    of: PhantomData<fn(A) -> R>,
}

impl<F: Fn(&Runtime, A) -> R, A, R: NativeReturned> Typed<F, A, R> {
    fn run(&self, args: A) -> Result<R::Value, CallError> {
        // The reference keeps the body alive during the call, even if the call ends the host.
        let body = self.body.share()?;
        let runtime = self.runtime.upgrade().ok_or_else(ended)?;
        body(&runtime, args).crossing(|| self.source())
    }

    #[cold]
    fn source(&self) -> SourcePlace {
        SourcePlace {
            file: self.location.file().to_owned(),
            line: self.location.line(),
            column: self.location.column(),
        }
    }
}

impl<F: 'static, A, R> TakeBody for Typed<F, A, R> {
    fn take_body(&self) -> Option<Rc<dyn Any>> {
        self.body.take_body()
    }
}

/// Returns an uncounted handle of the host. Returns `None` if no counted handle remains. Clones of the result are counted.
///
/// # Safety
/// A red frame of the host must stay open while the result is used.
#[inline]
unsafe fn runtime_in_a_frame(weak: &WeakRuntime) -> Option<ManuallyDrop<Runtime>> {
    // SAFETY: a handle exists now, so the pointer is valid. The last handle is not dropped while a red frame is open, because
    // `Runtime::end` then keeps another handle. The result is never dropped, so the count stays correct.
    weak.is_there().then(|| ManuallyDrop::new(Runtime { inner: unsafe { Rc::from_raw(weak.inner.as_ptr()) } }))
}

/// Function in a table of the host: a `fn` or closure with at most eight parameters.
pub trait EntryBody<A, R>: Send + Sync + 'static {
    /// Calls the function.
    fn run(&self, args: A) -> R;
}

macro_rules! bodies {
    ($(($($name:ident $arg:ident),*))*) => {$(
        impl<R, $($name,)* F: Fn($($name),*) -> R + Send + Sync + 'static> EntryBody<($($name,)*), R> for F {
            #[inline]
            fn run(&self, ($($arg,)*): ($($name,)*)) -> R {
                self($($arg),*)
            }
        }
    )*};
}
bodies! {
    () (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, D d) (A a, B b, C c, D d, E e) (A a, B b, C c, D d, E e, G g)
    (A a, B b, C c, D d, E e, G g, H h) (A a, B b, C c, D d, E e, G g, H h, I i)
}

/// A function without captures. The shutdown of the host does not drop this function.
struct Stateless<F>(PhantomData<fn() -> F>);

alcedo_abi::copies! { impl[F] Stateless<F>; }

impl<F: Send + Sync + 'static> Stateless<F> {
    fn of(body: F) -> Self {
        assert!(size_of::<F>() == 0, "a closure with captures has an address");
        std::mem::forget(body);
        Self(PhantomData)
    }

    #[inline]
    fn get(&self) -> &F {
        // SAFETY: `of` checks that `F` has size zero, and forgets its argument instead of dropping it, so a value of `F` exists. Any thread
        // may use this value, because `F` is `Send` and `Sync`.
        unsafe { std::ptr::NonNull::<F>::dangling().as_ref() }
    }
}

struct Code<F, A, R>(PhantomData<Typed<F, A, R>>);

impl<F, A, R> DirectBody<A::Bits> for Code<F, A, R>
where
    F: Fn(&Runtime, A) -> R + 'static,
    A: ValueParams,
    R: NativeReturned + 'static,
{
    /// `register_own` stores this context with the code. The caller guarantees that the table of the context exists.
    type Context = Typed<F, A, R>;

    #[inline]
    unsafe fn run(function: &Typed<F, A, R>, _object: ObjectHandle, bits: A::Bits) -> DirectAnswer {
        // Without an open red frame, the host could end during the call.
        if !function.fast_paths.in_a_frame() {
            return NOT_DONE;
        }
        // SAFETY: the cell belongs to this thread, and no other code runs while the reference to its content exists. The result points to
        // the allocation of the `Rc`. The end of the host takes the body out, but is deferred until the outermost red frame has closed.
        let Some(body) = (unsafe { (*function.body.as_ptr()).as_deref() }) else { return NOT_DONE };
        guarded(|| match A::of_bits(bits) {
            // SAFETY: a red frame is open until the body returns.
            Some(args) => match unsafe { runtime_in_a_frame(&function.runtime) } {
                Some(runtime) => to_answer(body(&runtime, args).crossing(|| function.source())),
                None => NOT_DONE,
            },
            None => failed(in_no_slot()),
        })
    }
}

struct LeafBody<F, A, R>(PhantomData<fn(F, A) -> R>);

impl<F, A, R> DirectBody<A::Bits> for LeafBody<F, A, R>
where
    F: Fn(A) -> R + Copy + Send + Sync + 'static,
    A: ValueParams,
    R: NativeResult,
{
    type Context = ();

    #[inline]
    unsafe fn run(_context: &(), _object: ObjectHandle, bits: A::Bits) -> DirectAnswer {
        guarded(|| {
            // SAFETY: `register_leaf` and `Stateless::of` check that a leaf has no captures, so `F` has size zero. Both functions received
            // a value, and `F` is `Copy`, so a value exists.
            let body = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
            match A::of_bits(bits) {
                Some(args) => to_answer(Ok(body(args))),
                None => failed(in_no_slot()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::runtime_in_a_frame;
    use crate::Runtime;

    #[test]
    fn uncounted_handles_leave_the_count_and_their_clones_add_to_it() {
        let runtime = Runtime::builder().build().expect("a runtime");
        let weak = runtime.downgrade();
        let handles = || weak.inner.strong_count();
        // SAFETY: no code drops the handle while `seen` is used.
        let seen = unsafe { runtime_in_a_frame(&weak) }.expect("there is a handle");
        assert_eq!(handles(), 1);
        let clone = Runtime::clone(&seen);
        assert_eq!(handles(), 2);
        drop(clone);
        assert_eq!(handles(), 1);
        drop(runtime);
        // SAFETY: no handle exists, so the result is `None` and is not used.
        assert!(unsafe { runtime_in_a_frame(&weak) }.is_none());
    }
}
