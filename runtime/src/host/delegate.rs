//! A delegate property of an object, with the Rust types of its signature.

use std::fmt;
use std::marker::PhantomData;

use super::closures::{Listener, listen};
use super::member::is_meant;
use crate::border::CallError;
use crate::bridge::delegates::signature_of as signature_of_type;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::{Class, Obj};
use crate::object::host_value::signature_of;
use crate::object::native_value::{NativeResult, ValueParams};
use crate::object::property::PropertyType;
use crate::object::type_text::SignatureText;
use crate::runtime::Runtime;

/// A delegate property of an object, single, multicast or sparse: glue gives it. Each use compares the signature. Game thread only.
pub struct DelegateOf<A, R> {
    object: ObjectHandle,
    class: &'static str,
    name: &'static str,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> fmt::Debug for DelegateOf<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} of {}", self.class, self.name, self.object)
    }
}

impl<A: ValueParams, R: NativeResult> DelegateOf<A, R> {
    #[doc(hidden)]
    #[must_use]
    pub fn new(class: &'static str, name: &'static str, object: ObjectHandle) -> Self {
        Self { object, class, name, of: PhantomData }
    }

    /// Binds it to a function of an object; one that can be bound to several gets it in addition, once.
    ///
    /// # Errors
    /// When an object is gone, or there is no such function, or it takes or gives something else.
    pub fn bind<D: Class>(&self, runtime: &Runtime, target: Obj<D>, function: &str) -> Result<(), Error> {
        self.signature(runtime)?;
        runtime.links().bind(self.object, self.name, target.handle(), function)
    }

    /// Takes bindings to an object out: those to that function, or with an empty name all. Gives how many there were.
    ///
    /// # Errors
    /// When the object of the delegate is gone, or may not be written now.
    pub fn unbind<D: Class>(&self, runtime: &Runtime, target: Obj<D>, function: &str) -> Result<u32, Error> {
        self.signature(runtime)?;
        runtime.links().unbind(self.object, self.name, target.handle(), function)
    }

    /// Binds it to a closure of the host, until what this gives is dropped. The closure is called on the game thread, within the call of
    /// the delegate. Binding survives reloads; a world that is saved does not have it.
    ///
    /// # Errors
    /// As [`DelegateOf::bind`]; [`Error::NotASafePoint`] where plugin code is on the stack.
    pub fn listen(
        &self,
        runtime: &Runtime,
        closure: impl Fn(&Runtime, A) -> Result<R, CallError> + 'static,
    ) -> Result<Listener, Error> {
        let signature = self.signature(runtime)?;
        listen(runtime, &signature, (self.object, self.name), closure)
    }

    /// Calls what is bound, as [`Links::broadcast`](crate::Links::broadcast) does. The result is that of a single one.
    ///
    /// # Errors
    /// As there, and when the delegate has another signature.
    pub fn call(&self, runtime: &Runtime, arguments: A) -> Result<R, Error> {
        let SignatureText { arguments: words, result, outs: _ } = self.signature(runtime)?;
        let types = &runtime.core().world.types;
        let of = |word| {
            PropertyType::resolve(word, types).map_err(|error| CallError::NotFound { message: error.to_string() })
        };
        let params = words.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let result = result.as_deref().map(of).transpose()?;
        let given = runtime.links().broadcast(self.object, self.name, &arguments.into_values(&params)?)?;
        Ok(R::from_value(given, result.as_ref())?)
    }

    /// The signature, which the delegate has.
    fn signature(&self, runtime: &Runtime) -> Result<SignatureText, Error> {
        let world = &runtime.core().world;
        let class = world.objects.class(self.object).ok_or(CallError::Stale { handle: self.object })?;
        is_meant(world, self.object, &class, self.class)?;
        let missing = || CallError::NotFound {
            message: format!("{} has no property {}: write the glue of the host again", class.path, self.name),
        };
        let property = class.find_property(self.name).ok_or_else(missing)?;
        let (found, wanted) = (signature_of_type(&property.ty)?, signature_of::<A, R>()?);
        if found != wanted.to_string() {
            let name = format!("{}:{}", self.class, self.name);
            return Err(CallError::Signature { name, found: found.to_owned(), wanted: wanted.to_string() }.into());
        }
        Ok(wanted)
    }
}
