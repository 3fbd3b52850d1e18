//! Interfaces: who rings, and a reference to whoever does.

use alcedo_plugin_api::prelude::*;

// What hears one. A host declares it.
#[cfg(feature = "listens")]
use crate::listens::Listens;

/// What makes a sound.
#[uinterface(package = "Game")]
pub trait Rings {}

/// It rings, in most builds.
#[cfg_attr(not(any(feature = "mute", feature = "listens")), uclass(package = "Game", implements(Rings)))]
#[cfg_attr(all(feature = "listens", not(feature = "mute")), uclass(package = "Game", implements(Rings, Listens)))]
#[cfg_attr(feature = "mute", uclass(package = "Game"))]
pub struct Bell {}

/// It rings because a bell does.
#[uclass(package = "Game", base = Bell)]
pub struct Chime {}

/// Knows something that rings.
#[uclass(package = "Game")]
pub struct Ringer {
    /// Whatever it is.
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

    /// Points the reference at what rings, and at what does not.
    #[ufunction]
    fn try_all(&mut self, this: This<Self>) -> String {
        let ringer = this.as_base().as_obj();
        let refused = this.bell().try_set(ringer).expect_err("it does not ring itself");
        let nobody = this.bell().is_none();
        let bell = this.spawn::<Bell>(ringer).expect("a bell").as_object();
        let chime = this.spawn::<Chime>(ringer).expect("a chime").as_object();
        this.bell().set(bell);
        let is_bell = this.bell().get(&this).expect("it is there").cast::<Bell>().is_ok();
        this.set_bell(ScriptInterface::of(chime).expect("a chime is a bell"));
        let own = this.bell().clone();
        this.bell().set(bell);
        let different = (this.open(&own).obj() == chime, this.bell().obj() == bell);
        let refused_too = ScriptInterface::<Rings>::of(ringer).expect_err("it does not ring itself");
        self.own = Some(own);
        let is_wrong = [refused.kind(), refused_too.kind()].map(|kind| kind == FailureKind::WRONG_CLASS);
        format!("{nobody} {is_bell} {different:?} {is_wrong:?}: not a {}", refused.wanted())
    }

    /// What the reference leads to.
    #[ufunction]
    fn rings(&self, this: This<Self>) -> String {
        this.bell().get(&this).map_or_else(|| "nobody".to_owned(), |bell| bell.class_path())
    }

    /// Passes an object to whatever has that name, without knowing what it takes.
    #[ufunction]
    fn pass(&self, this: This<Self>, name: String, object: Obj<Object>) -> String {
        told(this.zcall_any::<_, ()>(&name, (object,)).map(|()| "passed".to_owned()))
    }

    /// The same for a property of `owner`.
    #[ufunction]
    fn put(&self, this: This<Self>, name: String, owner: Obj<Object>, object: Obj<Object>) -> String {
        told(this.zcall_any::<_, ()>(&name, (owner, 1_u8, object)).map(|()| "passed".to_owned()))
    }

    /// Takes as a bell what the host gives back as any object.
    #[ufunction]
    fn take_bell(&self, this: This<Self>, object: Obj<Object>) -> String {
        let bell = this.zcall_any::<_, Obj<Bell>>("ex:/lend", (object,));
        told(bell.and_then(|bell| this.get(bell)).map(|bell| bell.class_path()))
    }

    /// Takes what the host gives, if it suits.
    #[ufunction]
    fn take(&self, this: This<Self>, bell: Obj<Object>) -> String {
        this.bell().try_set(bell).map_or_else(|error| format!("not a {}", error.wanted()), |()| self.rings(this))
    }
}

fn told(outcome: Result<String, CallError>) -> String {
    outcome.unwrap_or_else(|error| error.to_string())
}
