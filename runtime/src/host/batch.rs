//! Many calls of one method with the same arguments: one crossing for all objects of a class, as a tick needs them.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::zcall::{Slot, SlotValue};

use crate::border::CallError;
use crate::bridge::batches::{Done, Groups, Terms};
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

/// A method by name, for calls on many objects: [`Runtime::batch`]. It keeps nothing alive, the runtime included. Game thread only.
pub struct BatchFunction<A, R> {
    runtime: WeakRuntime,
    name: String,
    condition: Option<String>,
    only_overrides: bool,
    kept: RefCell<Option<(KeptHandle, MethodCall)>>,
    /// The groups of the list that was called last, and which that is.
    groups: Cell<Option<(u64, Groups)>>,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> fmt::Debug for BatchFunction<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in batches", self.name)
    }
}

/// How a batch went.
#[derive(Debug, Default)]
#[must_use = "it says which calls have failed"]
pub struct BatchReport {
    /// Calls that were made, those that failed included.
    pub called: usize,
    /// Objects that were gone before their turn came.
    pub ended: usize,
    /// Objects of which the condition was not met when their turn came: [`BatchFunction::when`].
    pub unmet: usize,
    /// Objects that were passed over since their class has no override: [`BatchFunction::only_overrides`].
    pub without_override: usize,
    /// How often a border was crossed for those that were called together: once for each class, and once more for each failure.
    pub crossings: usize,
    /// What has failed, and on which object. The others are done.
    pub failed: Vec<(ObjectHandle, Error)>,
}

impl Runtime {
    /// A method by name, for calls on many objects with the same arguments. `A` are its parameters without the object. They and the
    /// result are numbers, `bool`s or names.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// let tick = runtime.batch::<(f32,), ()>("uf:/Script/Engine.Actor:receive_tick")?;
    /// let actors = runtime.objects().all();
    /// let report = tick.call(&actors, (1.0 / 60.0,))?;
    /// for (object, error) in report.failed {
    ///     println!("{}: {error}", runtime.objects().describe(object));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Calls::resolve`](crate::Calls::resolve); [`CallError::Signature`] when it takes or gives others, is no method, or has values
    /// of other kinds.
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
    /// The name it was requested by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same for those objects only whose `bool` property of that name is set when their turn comes.
    #[must_use]
    pub fn when(self, property: &str) -> Self {
        Self { condition: Some(property.to_owned()), groups: Cell::new(None), ..self }
    }

    /// The same for those objects only whose class overrides it: for an event that does nothing by itself.
    #[must_use]
    pub fn only_overrides(self) -> Self {
        Self { only_overrides: true, groups: Cell::new(None), ..self }
    }

    /// Calls it on all of them: class by class, in the order in which the classes come first, and in each in the given order. What
    /// fails concerns its object only. An object that has ended before its turn is passed over; one that begins meanwhile is none of
    /// them.
    ///
    /// # Errors
    /// When the name leads nowhere now, or to another method, and while a slice of host memory is lent; nothing was called then.
    /// [`CallError::Unavailable`] when the runtime has ended.
    pub fn call(&self, objects: &[ObjectHandle], arguments: A) -> Result<BatchReport, Error> {
        let slots = slots_of(arguments);
        self.begin(|core, callee, method| {
            let groups = Groups::of(core, method, objects, &self.terms())?;
            Ok(report(self.run(core, callee, &groups, &slots, None)))
        })
    }

    /// The same for a list, whose groups are kept as long as no object begins or ends.
    ///
    /// # Errors
    /// As [`BatchFunction::call`].
    pub fn call_list(&self, list: &ObjectList, arguments: A) -> Result<BatchReport, Error> {
        let slots = slots_of(arguments);
        self.begin(|core, callee, method| {
            // Taken, since what is called may come back here.
            let kept = self.groups.take().filter(|(of, groups)| *of == list.version() && groups.is_right(core));
            let (of, groups) = match kept {
                Some(kept) => kept,
                None => (list.version(), Groups::of(core, method, list.objects(), &self.terms())?),
            };
            let done = self.run(core, callee, &groups, &slots, None);
            self.groups.set(Some((of, groups)));
            Ok(report(done))
        })
    }

    /// As [`BatchFunction::call`], with the results, in the order of the objects; none for one that was not called or has failed.
    ///
    /// # Errors
    /// As [`BatchFunction::call`].
    pub fn collect(&self, objects: &[ObjectHandle], arguments: A) -> Result<(Vec<Option<R>>, BatchReport), Error> {
        let slots = slots_of(arguments);
        self.begin(|core, callee, method| {
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

    /// What it stands for now, and whether it may be called.
    fn begin<T>(&self, code: impl FnOnce(&Core, &Rc<Callee>, &MethodCall) -> Result<T, Error>) -> Result<T, Error> {
        let ended = || CallError::Unavailable { what: format!("the runtime of `{}`", self.name) };
        let runtime = self.runtime.upgrade().ok_or_else(ended)?;
        let core = runtime.core();
        core.world.slices.allow_change(&"a batch of calls")?;
        let fresh =
            self.kept.borrow().as_ref().and_then(|(kept, method)| Some((core.zcalls.fresh(kept)?, method.clone())));
        let (callee, method) = match fresh {
            Some(fresh) => fresh,
            None => self.resolve(&runtime)?,
        };
        code(core, &callee, &method)
    }

    fn run(
        &self,
        core: &Core,
        callee: &Rc<Callee>,
        groups: &Groups,
        slots: &[Slot; MOST],
        results: Option<&mut [Option<u64>]>,
    ) -> Done {
        let slots = &slots[..A::COUNT];
        let mut words = [0; MOST];
        words.iter_mut().zip(slots).for_each(|(word, slot)| *word = slot.bits());
        let count = A::COUNT + usize::from(R::VALUE.is_some());
        let mut long = |object: ObjectHandle| {
            let mut row = [Slot::EMPTY; MOST + 2];
            row[0] = Slot::from_bits(ObjectHandle::SLOT, object.into_bits());
            row[1..=A::COUNT].copy_from_slice(slots);
            core.zcalls.dispatch_fresh(core.here(), callee, BufferMut::over(&mut row[..=count]))?;
            Ok(row[count])
        };
        groups.call(core, &words[..A::COUNT], results, &mut long)
    }

    fn resolve(&self, runtime: &Runtime) -> Result<(Rc<Callee>, MethodCall), Error> {
        self.kept.replace(None);
        let core = runtime.core();
        let handle = runtime.calls().resolve(&self.name)?;
        let callee = core.zcalls.callee(handle);
        let callee = callee.ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.name) })?;
        let signature = signature_of::<A, R>()?;
        let wanted = signature.to_string();
        let found = callee.signature().words().to_owned();
        let refused = |found| CallError::Signature { name: self.name.clone(), found, wanted: wanted.clone() };
        if found != wanted {
            return Err(refused(found).into());
        }
        let Some(method) = uf::method_call(&callee) else {
            return Err(refused(format!("{found}, of no object")).into());
        };
        let are_words = are_as_declared::<A, R>(&signature)
            && A::IN_SLOTS
            && R::IN_SLOT
            && !A::FIRST_IS_OBJECT
            && !A::OTHERS_ARE_OBJECTS;
        if !are_words || A::COUNT > MOST {
            let only = "numbers, `bool`s and names only";
            return Err(CallError::Signature { name: self.name.clone(), found, wanted: only.to_owned() }.into());
        }
        self.kept.replace(Some((core.zcalls.keep(handle)?, method.clone())));
        Ok((callee, method))
    }
}

/// Most parameters that a method has.
const MOST: usize = 8;

/// The arguments in slots. They are made before objects are looked for: it may be code of whoever wrote their types, which may end
/// some, or reload.
fn slots_of<A: ValueParams>(arguments: A) -> [Slot; MOST] {
    let mut slots = [Slot::EMPTY; MOST];
    let mut made = arguments.into_slots();
    slots[..A::COUNT].copy_from_slice(&made.as_mut()[..A::COUNT]);
    slots
}

fn report(done: Done) -> BatchReport {
    let Done { called, ended, unmet, passed, crossings, failed } = done;
    let failed = failed.into_iter().map(|(_, object, error)| (object, error.into())).collect();
    BatchReport { called, ended, unmet, without_override: passed, crossings, failed }
}
