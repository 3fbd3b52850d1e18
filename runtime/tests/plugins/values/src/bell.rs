//! Interface without functions, classes that implement it, and a reference to an object of such a class.

use alcedo_plugin_api::prelude::*;

// Interface declared by a host.
#[cfg(feature = "listens")]
use crate::listens::Listens;

/// Source of sound.
#[uinterface(package = "Game")]
pub trait Rings {}

/// Implements `Rings` in most builds.
#[cfg_attr(not(any(feature = "mute", feature = "listens")), uclass(package = "Game", implements(Rings)))]
#[cfg_attr(all(feature = "listens", not(feature = "mute")), uclass(package = "Game", implements(Rings, Listens)))]
#[cfg_attr(feature = "mute", uclass(package = "Game"))]
pub struct Bell {}

/// Inherits the interface from its base.
#[uclass(package = "Game", base = Bell)]
pub struct Chime {}

/// Object with a property of an interface type.
#[uclass(package = "Game")]
pub struct Ringer {
    /// Reference by interface.
    #[uproperty]
    bell: ScriptInterface<Rings>,

    own: Option<ScriptInterface<Rings>>,
}

#[uclass]
impl Ringer {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { own: None }
    }

    /// Tries to set the reference to objects that implement the interface, and to objects that do not.
    #[ufunction]
    fn try_all(&mut self, this: This<Self>) -> String {
        let ringer = this.as_base().as_obj();
        let refused = this.bell().try_set(ringer).expect_err("a ringer lacks the interface");
        let is_empty = this.bell().is_none();
        let bell = this.spawn::<Bell>(ringer).expect("a bell").as_object();
        let chime = this.spawn::<Chime>(ringer).expect("a chime").as_object();
        this.bell().set(bell);
        let is_bell = this.bell().get(&this).expect("alive").cast::<Bell>().is_ok();
        this.set_bell(ScriptInterface::of(chime).expect("a chime is a bell"));
        let own = this.bell().to_owned();
        this.bell().set(bell);
        let different = (this.open(&own).obj() == chime, this.bell().obj() == bell);
        let refused_too = ScriptInterface::<Rings>::of(ringer).expect_err("a ringer lacks the interface");
        self.own = Some(own);
        let is_wrong = [refused.kind(), refused_too.kind()].map(|kind| kind == FailureKind::WRONG_CLASS);
        format!("{is_empty} {is_bell} {different:?} {is_wrong:?}: not a {}", refused.expected())
    }

    /// Returns the class of the object to which `bell` refers.
    #[ufunction]
    fn rings(&self, this: This<Self>) -> String {
        this.bell().get(&this).map_or_else(|| "nobody".to_owned(), |bell| bell.class_path())
    }

    /// Passes an object to the function `name` by dynamic call.
    #[ufunction]
    fn pass(&self, this: This<Self>, name: String, object: Obj<Object>) -> String {
        format_result(this.zcall_any::<_, ()>(&name, (object,)).map(|()| "passed".to_owned()))
    }

    /// Passes an object to the property `name` of `owner` by dynamic call.
    #[ufunction]
    fn put(&self, this: This<Self>, name: String, owner: Obj<Object>, object: Obj<Object>) -> String {
        format_result(this.zcall_any::<_, ()>(&name, (owner, 1_u8, object)).map(|()| "passed".to_owned()))
    }

    /// Receives an object of any class from the host through a function whose result type is a bell.
    #[ufunction]
    fn take_bell(&self, this: This<Self>, object: Obj<Object>) -> String {
        let bell = this.zcall_any::<_, Obj<Bell>>("ex:/lend", (object,));
        format_result(bell.and_then(|bell| this.get(bell)).map(|bell| bell.class_path()))
    }

    /// Sets the reference to this object of the host, if the object implements the interface.
    #[ufunction]
    fn take(&self, this: This<Self>, bell: Obj<Object>) -> String {
        this.bell().try_set(bell).map_or_else(|error| format!("not a {}", error.expected()), |()| self.rings(this))
    }
}

fn format_result(outcome: Result<String, CallError>) -> String {
    outcome.unwrap_or_else(|error| error.to_string())
}
