//! Functions by name with a signature of Rust types: looked up and compared once, and again when the generation that had them is over.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::dynamic_call;
use crate::error::Error;
use crate::handles::ZCallHandle;
use crate::object::host_value::signature_of;
use crate::object::native_value::{NativeResult, ValueParams};
use crate::object::property::PropertyType;
use crate::object::type_text::SignatureText;
use crate::runtime::{Runtime, WeakRuntime};

/// A function by name, whose parameters and result are of these Rust types: [`Runtime::function`]. It calls what the name leads to
/// when it is called: after a reload the new code, never the old. It keeps nothing alive, the runtime included. Game thread only.
pub struct TypedFunction<A, R> {
    runtime: WeakRuntime,
    name: String,
    signature: SignatureText,
    handle: Cell<Option<ZCallHandle>>,
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
            handle: Cell::new(None),
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
        let handle = match self.handle.get().filter(|handle| core.zcalls.callee(*handle).is_some()) {
            Some(handle) => handle,
            None => self.resolve(&runtime)?,
        };
        let (params, result) = self.types(&runtime)?;
        let arguments = arguments.into_values(&params)?;
        Ok(R::from_value(dynamic_call::call(core, handle, &arguments)?, result.as_ref())?)
    }

    /// Looks the name up, and compares the signature.
    fn resolve(&self, runtime: &Runtime) -> Result<ZCallHandle, Error> {
        self.handle.set(None);
        let handle = runtime.calls().resolve(&self.name)?;
        let callee = runtime
            .core()
            .zcalls
            .callee(handle)
            .ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.name) })?;
        let found = callee.signature().words();
        let is_found = |signature: &SignatureText| signature.to_string() == found;
        // The object that a function is called on stands before its parameters, in the name and not in the signature.
        let without_object = || {
            let (first, rest) = self.signature.arguments.split_first()?;
            let is_object = first.kind() == crate::kinds::PropertyKind::OBJECT && self.name.starts_with("uf");
            is_object.then(|| SignatureText { arguments: rest.to_vec(), ..self.signature.clone() })
        };
        if !is_found(&self.signature) && !without_object().is_some_and(|signature| is_found(&signature)) {
            let (name, found, wanted) = (self.name.clone(), found.to_owned(), self.signature.to_string());
            return Err(CallError::Signature { name, found, wanted }.into());
        }
        self.handle.set(Some(handle));
        Ok(handle)
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
