//! Typed access to objects of native classes, for host code. A native class has a Rust type with a method per member.

use super::objects::Objects;
use crate::boundary::CallError;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::{Class, Obj, This, run_for};

impl Objects<'_> {
    /// Creates an object of a native class, like [`Objects::spawn`].
    ///
    /// # Errors
    /// Returns the errors of [`Objects::spawn`].
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty(default = 1.5)]
    ///     brightness: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn_as::<Lamp>()?;
    /// assert_eq!(runtime.objects().with(lamp, |lamp| lamp.brightness())?, 1.5);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn spawn_as<C: Class>(&self) -> Result<Obj<C>, Error> {
        self.spawn(C::PATH).map(Obj::new)
    }

    /// Returns a typed reference to the object. Returns `None` if the object is destroyed, or is not of class `C` or a derived class.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty]
    ///     brightness: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// let other = runtime.objects().spawn("/Script/Core.Object")?;
    /// assert!(runtime.objects().cast::<Lamp>(lamp).is_some());
    /// assert!(runtime.objects().cast::<Lamp>(other).is_none());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn cast<C: Class>(&self, object: ObjectHandle) -> Option<Obj<C>> {
        (self.is_alive(object) && self.is_a(object, C::PATH)).then(|| Obj::new(object))
    }

    /// Runs `code` with a view of the object. The view has the accessors and functions of class `C`, like `this` in a method. If an
    /// accessor fails, the accessor unwinds out of `code`, and this method returns the error.
    ///
    /// ```
    /// use alcedo_runtime::native::{This, uclass};
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// /// A lamp.
    /// #[uclass(package = "Game")]
    /// pub struct Lamp {
    ///     /// How bright it is.
    ///     #[uproperty(default = 1.0)]
    ///     brightness: f64,
    /// }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn_as::<Lamp>()?;
    /// let was = runtime.objects().with(lamp, |lamp| {
    ///     lamp.set_brightness(lamp.brightness() * 2.0);
    ///     lamp.brightness()
    /// })?;
    /// assert_eq!(was, 2.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the object is destroyed or is not of class `C`, or if an accessor in `code` fails. Changes that `code` made before an error
    /// persist.
    pub fn with<C: Class, R>(&self, object: Obj<C>, code: impl FnOnce(This<'_, C>) -> R) -> Result<R, Error> {
        let handle = object.handle();
        if !self.is_alive(handle) {
            return Err(CallError::Stale { handle }.into());
        }
        if !self.is_a(handle, C::PATH) {
            let found = self.class_of(handle).unwrap_or_default();
            return Err(
                CallError::WrongClass { place: String::new(), handle, found, expected: C::PATH.to_owned() }.into()
            );
        }
        Ok(run_for(self.0.world(), handle, code)?)
    }
}
