//! Functions by name with a signature of Rust types: looked up and compared once, and again when the generation that had them is over.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::dynamic_call;
use crate::error::Error;
use crate::kinds::PropertyKind;
use crate::object::host_value::signature_of;
use crate::object::native_value::{NativeResult, ValueParams};
use crate::object::property::PropertyType;
use crate::object::type_text::SignatureText;
use crate::runtime::{Runtime, WeakRuntime};
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Callee, Slots};
use crate::zcall::table::KeptHandle;

/// A function by name, whose parameters and result are of these Rust types: [`Runtime::function`]. It calls what the name leads to
/// when it is called: after a reload the new code, never the old. It keeps nothing alive, the runtime included. Game thread only.
pub struct TypedFunction<A, R> {
    runtime: WeakRuntime,
    name: String,
    signature: SignatureText,
    handle: RefCell<Option<KeptHandle>>,
    /// Whether all goes in slots, so that no value is made on the way.
    in_slots: Cell<bool>,
    /// What the words of the signature mean, and since when.
    types: RefCell<Option<(u64, Types)>>,
    of: PhantomData<fn(A) -> R>,
}

/// Those of the parameters, and that of the result.
type Types = (Vec<PropertyType>, Option<PropertyType>);

impl<A, R> fmt::Debug for TypedFunction<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.name, self.signature)
    }
}

impl Runtime {
    /// A function by name, for calls by Rust types. Of a function of an object the object is the first parameter.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_pure("host.double", "f64 -> f64".parse()?, |_, values| match values {
    ///     [Value::F64(number)] => Ok(Some(Value::F64(number * 2.0))),
    ///     _ => Ok(None),
    /// })?;
    /// let double = runtime.function::<(f64,), f64>("ex:/host.double")?;
    /// assert_eq!(double.call((21.0,))?, 42.0);
    /// assert!(runtime.function::<(String,), f64>("ex:/host.double").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Calls::resolve`](crate::Calls::resolve), and [`CallError::Signature`] when it takes or gives others.
    pub fn function<A: ValueParams, R: NativeResult>(&self, name: &str) -> Result<TypedFunction<A, R>, Error> {
        let function = TypedFunction {
            runtime: self.downgrade(),
            name: name.to_owned(),
            signature: signature_of::<A, R>()?,
            handle: RefCell::new(None),
            in_slots: Cell::new(false),
            types: RefCell::new(None),
            of: PhantomData,
        };
        function.resolve(self)?;
        Ok(function)
    }
}

impl<A: ValueParams, R: NativeResult> TypedFunction<A, R> {
    /// The name it was requested by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it.
    ///
    /// # Errors
    /// When the name leads nowhere now, or to a function with another signature, and whatever the callee fails with;
    /// [`CallError::Unavailable`] when the runtime has ended.
    pub fn call(&self, arguments: A) -> Result<R, Error> {
        let ended = || CallError::Unavailable { what: format!("the runtime of `{}`", self.name) };
        let runtime = self.runtime.upgrade().ok_or_else(ended)?;
        let core = runtime.core();
        let known = self.handle.borrow().as_ref().and_then(|kept| core.zcalls.fresh(kept));
        let callee = match known {
            Some(callee) => callee,
            // What has changed may have been something else: then the name leads where it led.
            None => self.resolve(&runtime)?,
        };
        if A::IN_SLOTS && R::IN_SLOT && self.in_slots.get() {
            core.world.slices.allow_change(&"a call by name")?;
            let mut slots = arguments.into_slots();
            let slots = slots.as_mut();
            let count = A::COUNT + usize::from(R::VALUE.is_some());
            core.zcalls.dispatch_fresh(core.here(), &callee, BufferMut::over(&mut slots[..count]))?;
            return R::from_slot(slots[count.saturating_sub(1)]).ok_or_else(|| self.other_result());
        }
        let handle = self.handle.borrow().as_ref().map(KeptHandle::handle).unwrap_or_default();
        let (params, result) = self.types(&runtime)?;
        let arguments = arguments.into_values(&params)?;
        Ok(R::from_value(dynamic_call::call(core, handle, &arguments)?, result.as_ref())?)
    }

    #[cold]
    fn other_result(&self) -> Error {
        CallError::Buffer { message: format!("`{}` gave another result than its signature says", self.name) }.into()
    }

    /// Looks the name up, and compares the signature.
    fn resolve(&self, runtime: &Runtime) -> Result<Rc<Callee>, Error> {
        self.handle.replace(None);
        let handle = runtime.calls().resolve(&self.name)?;
        let callee = runtime
            .core()
            .zcalls
            .callee(handle)
            .ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.name) })?;
        let found = callee.signature().words();
        if callee.slots() == Slots::Property {
            let (name, wanted) = (self.name.clone(), self.signature.to_string());
            return Err(CallError::Signature { name, found: format!("a property of type {found}"), wanted }.into());
        }
        let is_found = |signature: &SignatureText| signature.to_string() == found;
        // The object that a function is called on stands before its parameters, in the name and not in the signature.
        let without_object = || {
            let (first, rest) = self.signature.arguments.split_first()?;
            let is_object = first.kind() == PropertyKind::OBJECT && self.name.starts_with("uf");
            is_object.then(|| SignatureText { arguments: rest.to_vec(), ..self.signature.clone() })
        };
        let takes_object = !is_found(&self.signature);
        if takes_object && !without_object().is_some_and(|signature| is_found(&signature)) {
            let (name, found, wanted) = (self.name.clone(), found.to_owned(), self.signature.to_string());
            return Err(CallError::Signature { name, found, wanted }.into());
        }
        // The class of the object that a function is called on is compared by the callee; that of any other by the path with values.
        let has_other_objects = A::OTHERS_ARE_OBJECTS || (A::FIRST_IS_OBJECT && !takes_object);
        let are_those = self.signature.arguments.iter().map(|word| Some(word.kind())).eq(A::KINDS.iter().copied());
        self.in_slots.set(are_those && !has_other_objects && callee.slots() == Slots::Function);
        let kept = runtime.core().zcalls.keep(handle)?;
        self.handle.replace(Some(kept));
        Ok(callee)
    }

    /// What its words mean now.
    fn types(&self, runtime: &Runtime) -> Result<Types, CallError> {
        let types = &runtime.core().world.types;
        let stamp = types.stamp();
        if let Some((known, found)) = &*self.types.borrow()
            && *known == stamp
        {
            return Ok(found.clone());
        }
        let of = |word| {
            PropertyType::resolve(word, types).map_err(|error| CallError::NotFound { message: error.to_string() })
        };
        let params = self.signature.arguments.iter().map(of).collect::<Result<_, _>>()?;
        let found = (params, self.signature.result.as_deref().map(of).transpose()?);
        *self.types.borrow_mut() = Some((stamp, found.clone()));
        Ok(found)
    }
}
