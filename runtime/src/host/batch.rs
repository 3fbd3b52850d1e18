//! Calls one method on many objects with equal arguments, for example once per tick. All calls on objects of one class share one ABI
//! crossing.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::direct::MOST_WORDS;
use alcedo_abi::zcall::{Slot, SlotValue};

use crate::boundary::{CallError, mismatch};
use crate::bridge::batches::{Done, Groups, Terms};
use crate::bridge::call_cache::is_plain;
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::uf;
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::host::function::{are_as_declared, result_slot};
use crate::host::list::ObjectList;
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::runtime::{Runtime, WeakRuntime};
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::Callee;
use crate::zcall::table::KeptHandle;

/// Method that is called by name on many objects; see [`Runtime::batch`]. Does not keep the runtime alive. Game thread only.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// let tick = runtime.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick")?;
/// // Calls only objects that tick, and only classes with an override.
/// let tick = tick.when("can_tick").only_overrides();
/// let mut actors = runtime.list("/Script/Engine.Actor");
/// actors.refresh(&runtime);
/// let report = tick.call_list(actors.list(), (1.0 / 60.0,))?;
/// println!("{} actors ticked", report.called);
/// # Ok(())
/// # }
/// ```
pub struct BatchFunction<A, R> {
    runtime: WeakRuntime,
    name: String,
    condition: Option<String>,
    only_overrides: bool,
    kept: RefCell<Option<(KeptHandle, MethodCall)>>,
    /// Objects of the list in the last call, grouped by class, and the version of this list.
    groups: Cell<Option<(u64, Groups)>>,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> fmt::Debug for BatchFunction<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in batches", self.name)
    }
}

/// Result of a batch.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::host::BatchReport;
///
/// fn log(runtime: &Runtime, report: &BatchReport) {
///     println!("{} calls, {} ABI crossings", report.called, report.crossings);
///     for (object, error) in &report.failed {
///         eprintln!("{}: {error}", runtime.objects().describe(*object));
///     }
/// }
/// ```
#[derive(Debug, Default)]
#[must_use = "it lists the calls that failed"]
#[non_exhaustive]
pub struct BatchReport {
    /// Number of calls, including failed calls.
    pub called: usize,
    /// Number of objects that were destroyed before their call.
    pub ended: usize,
    /// Number of objects that the condition of [`BatchFunction::when`] excluded.
    pub unmet: usize,
    /// Number of objects that [`BatchFunction::only_overrides`] excluded, because their class has no override.
    pub without_override: usize,
    /// Number of ABI crossings in this batch: one per class, and one more per failed call.
    pub crossings: usize,
    /// Objects whose calls failed, with the errors. All other calls succeeded.
    pub failed: Vec<(ObjectHandle, Error)>,
}

impl Runtime {
    /// Returns a method for calls on many objects with equal arguments. `A` lists the parameter types without the receiver object. All
    /// parameters and the result must be numbers, `bool`s or names.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// let tick = runtime.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick")?;
    /// let actors: Vec<_> = runtime.objects().iter().collect();
    /// let report = tick.call(&actors, (1.0 / 60.0,))?;
    /// for (object, error) in report.failed {
    ///     println!("{}: {error}", runtime.objects().describe(object));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Calls::resolve`](crate::Calls::resolve). Returns [`CallError::Signature`] if the name does not refer to a
    /// method, if the signatures differ, or if the signature contains a type that is not allowed.
    pub fn batch<A: ValueParams, R: NativeResult>(&self, name: &str) -> Result<BatchFunction<A, R>, Error> {
        let batch = BatchFunction {
            runtime: self.downgrade(),
            name: name.to_owned(),
            condition: None,
            only_overrides: false,
            kept: RefCell::new(None),
            groups: Cell::new(None),
            of: PhantomData,
        };
        batch.resolve(self)?;
        Ok(batch)
    }
}

impl<A: ValueParams, R: NativeResult> BatchFunction<A, R> {
    /// Returns the name of the method.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Restricts the calls to objects whose `bool` property `property` is `true`. The property is read just before the call on the object.
    #[must_use]
    pub fn when(self, property: &str) -> Self {
        Self { condition: Some(property.to_owned()), groups: Cell::new(None), ..self }
    }

    /// Restricts the calls to objects whose class overrides the method. Useful for an event whose default body is empty.
    #[must_use]
    pub fn only_overrides(self) -> Self {
        Self { only_overrides: true, groups: Cell::new(None), ..self }
    }

    /// Calls the method on all objects, grouped by class. The class of the first object in `objects` is called first. The objects of a
    /// class are called in the order of `objects`. After a failed call, the batch continues with the next object. The batch skips objects
    /// that are destroyed before their call.
    ///
    /// # Errors
    /// Returns an error and makes no call if the name cannot be resolved, or if the name now refers to a different method. Also fails while
    /// a slice of host memory is borrowed. Returns [`CallError::Unavailable`] if the runtime was dropped.
    pub fn call(&self, objects: &[ObjectHandle], arguments: A) -> Result<BatchReport, Error> {
        let slots = slots_of(arguments);
        self.begin(None, |core, callee, method| {
            let groups = Groups::of(core, method, objects, &self.terms())?;
            Ok(report(self.run(core, callee, &groups, &slots, None)))
        })
    }

    /// Calls the method on all objects of a list. The class groups are cached until an object is created or destroyed.
    ///
    /// # Errors
    /// Returns the errors of [`BatchFunction::call`], and [`Error::OtherRuntime`] if another runtime has filled the list.
    pub fn call_list(&self, list: &ObjectList, arguments: A) -> Result<BatchReport, Error> {
        let slots = slots_of(arguments);
        self.begin(Some(list), |core, callee, method| {
            // Removes the groups from the cache during the calls, because a called method may call this function again.
            let kept = self.groups.take().and_then(|(of, mut groups)| {
                let is_right = match &list.edits {
                    _ if of == list.version() => groups.is_right(core),
                    Some(edits) if of == edits.from => groups.follow(core, &edits.change),
                    _ => false,
                };
                is_right.then_some(groups)
            });
            let groups = kept.map_or_else(|| Groups::of(core, method, list.objects(), &self.terms()), Ok)?;
            let done = self.run(core, callee, &groups, &slots, None);
            self.groups.set(Some((list.version(), groups)));
            Ok(report(done))
        })
    }

    /// Calls the method like [`BatchFunction::call`], and also returns the results in the order of the objects. The result is `None` for an
    /// object that was skipped or whose call failed.
    ///
    /// # Errors
    /// Returns the errors of [`BatchFunction::call`].
    pub fn collect(&self, objects: &[ObjectHandle], arguments: A) -> Result<(Vec<Option<R>>, BatchReport), Error> {
        let slots = slots_of(arguments);
        self.begin(None, |core, callee, method| {
            let groups = Groups::of(core, method, objects, &self.terms())?;
            let mut words = vec![None; objects.len()];
            let done = self.run(core, callee, &groups, &slots, Some(&mut words));
            let results = words.into_iter().map(|word| word.and_then(|bits| R::from_slot(result_slot::<R>(bits))));
            Ok((results.collect(), report(done)))
        })
    }

    fn terms(&self) -> Terms<'_> {
        Terms { condition: self.condition.as_deref(), only_overrides: self.only_overrides }
    }

    /// Checks that calls are allowed, resolves the method if the cached resolution is outdated, and runs `code`.
    fn begin<T>(
        &self,
        list: Option<&ObjectList>,
        code: impl FnOnce(&Core, &Rc<Callee>, &MethodCall) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let runtime = self.runtime.expect(&self.name)?;
        if list.is_some_and(|list| list.is_of_another(&runtime)) {
            return Err(Error::OtherRuntime { name: self.name.clone() });
        }
        let core = runtime.core();
        core.world.slices.allow_change(&"a batch of calls")?;
        let fresh =
            self.kept.borrow().as_ref().and_then(|(kept, method)| Some((core.zcalls.fresh(kept)?, method.clone())));
        let (callee, method) = fresh.map_or_else(|| self.resolve(&runtime), Ok)?;
        code(core, &callee, &method)
    }

    fn run(
        &self,
        core: &Core,
        callee: &Rc<Callee>,
        groups: &Groups,
        slots: &[Slot; MOST_WORDS],
        results: Option<&mut [Option<u64>]>,
    ) -> Done {
        let slots = &slots[..A::COUNT];
        let mut words = [0; MOST_WORDS];
        words.iter_mut().zip(slots).for_each(|(word, slot)| *word = slot.bits());
        let count = A::COUNT + usize::from(R::VALUE.is_some());
        let mut slow = |object: ObjectHandle| {
            let mut row = [Slot::EMPTY; MOST_WORDS + 2];
            row[0] = Slot::from_bits(ObjectHandle::SLOT, object.into_bits());
            row[1..=A::COUNT].copy_from_slice(slots);
            core.zcalls.dispatch_fresh(core.here(), callee, BufferMut::over(&mut row[..=count]))?;
            Ok(row[count])
        };
        groups.call(core, &words[..A::COUNT], results, &mut slow)
    }

    fn resolve(&self, runtime: &Runtime) -> Result<(Rc<Callee>, MethodCall), Error> {
        self.kept.replace(None);
        let core = runtime.core();
        let handle = runtime.calls().resolve(&self.name)?;
        let callee = core.zcalls.callee(handle);
        let callee = callee.ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.name) })?;
        let signature = signature_of::<A, R>()?;
        let expected = signature.to_string();
        let found = callee.signature().text();
        if found != expected {
            return Err(mismatch(&self.name, &found, &expected).into());
        }
        let Some(method) = uf::method_call(&callee) else {
            return Err(mismatch(&self.name, &format!("{found}, of no object"), &expected).into());
        };
        let are_words = are_as_declared::<A, R>(&signature) && is_plain::<A, R>();
        if !are_words || A::COUNT > MOST_WORDS {
            return Err(mismatch(&self.name, &found, &"numbers, `bool`s and names only").into());
        }
        self.kept.replace(Some((core.zcalls.keep(handle)?, method.clone())));
        Ok((callee, method))
    }
}

/// Converts the arguments to slots. Must run before objects are looked up, because a conversion is user code, and may destroy objects or
/// start a reload.
fn slots_of<A: ValueParams>(arguments: A) -> [Slot; MOST_WORDS] {
    let mut slots = [Slot::EMPTY; MOST_WORDS];
    let mut made = arguments.into_slots();
    slots[..A::COUNT].copy_from_slice(&made.as_mut()[..A::COUNT]);
    slots
}

fn report(done: Done) -> BatchReport {
    let Done { called, ended, unmet, passed, crossings, failed } = done;
    let failed = failed.into_iter().map(|(_, object, error)| (object, error.into())).collect();
    BatchReport { called, ended, unmet, without_override: passed, crossings, failed }
}
