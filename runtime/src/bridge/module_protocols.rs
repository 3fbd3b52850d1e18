//! Protocols and resolvers that modules have registered. The chain calls them as it calls those of the host; here each goes through
//! the gate of its module, in a red frame, and ends with the module's generation.
#![expect(unsafe_code, reason = "calls the functions that modules have registered")]

use std::rc::{Rc, Weak};

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::protocols::{ProtocolDesc, Resolution, ResolutionKind, ResolverDesc};

use crate::border::CallError;
use crate::bridge::core::{Core, alive};
use crate::conjugate::gate::Gate;
use crate::handles::ModuleId;
use crate::object::mode::Reach;
use crate::signature::described_by_module;
use crate::zcall::buffer::collect_text;
use crate::zcall::call::{Call, Dispatcher, Resolved};
use crate::zcall::chain::{Answer, Origin, Resolver};
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::{PlainProtocol, Protocol};
use crate::zcall::reader::{NameError, NameFlaw, Reader};

/// A description that a module has lent, whose functions do what their types say.
pub(crate) struct Lent<'a, D>(&'a D);

impl<'a, D> Lent<'a, D> {
    /// That description.
    ///
    /// # Safety
    /// The functions in it are of the module that registers it, and do what their types say for its number.
    pub(crate) unsafe fn new(description: &'a D) -> Self {
        Self(description)
    }
}

/// Adds a protocol of a module.
///
/// # Errors
/// When its word is taken or none, and when it could not be taken back: before a commit, of a module that does not come up.
pub(crate) fn add_protocol(
    core: &Rc<Core>,
    module: ModuleId,
    protocol: &Lent<'_, ProtocolDesc<'_>>,
) -> Result<(), CallError> {
    let Lent(ProtocolDesc { number, word, form, way_out, read, is_plain }) = *protocol;
    let code = Registered::new(core, module, format!("the protocol `{word}`"))?;
    let [word, form, way_out] = [word, form, way_out].map(|text| text.as_str().to_owned());
    let read = (*is_plain == 0).then_some(*read);
    let protocol = ModuleProtocol { code, number: *number, word, form, way_out, read };
    core.chain.add_protocol(Rc::new(protocol), Origin::Module(module))
}

/// Adds a resolver of a module.
///
/// # Errors
/// As [`add_protocol`], and when there is no protocol that a module may resolve names of.
pub(crate) fn add_resolver(
    core: &Rc<Core>,
    module: ModuleId,
    resolver: &Lent<'_, ResolverDesc<'_>>,
) -> Result<(), CallError> {
    let Lent(description) = *resolver;
    let (protocol, label) = (description.protocol.as_str(), description.label.as_str());
    let code = Registered::new(core, module, format!("the resolver `{label}`"))?;
    let resolver = ModuleResolver {
        code: Rc::new(code),
        number: description.number,
        resolve: description.resolve,
        call: description.call,
        drop: description.drop,
    };
    core.chain.add(protocol, Origin::Module(module), description.priority, label, Rc::new(resolver))
}

/// The way into what a module has registered.
struct Registered {
    core: Weak<Core>,
    gate: Rc<Gate>,
    what: Rc<str>,
}

impl Registered {
    fn new(core: &Rc<Core>, module: ModuleId, what: String) -> Result<Self, CallError> {
        let mode = &core.world.mode;
        if mode.is_before_commit() && !mode.is_coming_up(module) {
            return Err(CallError::DuringRebuild { action: format!("registering {what}") });
        }
        Ok(Self { core: Rc::downgrade(core), gate: core.tasks.gate(module)?, what: what.into() })
    }

    /// Runs code of the module, for the call `name`.
    fn enter(&self, name: &str, call: impl FnOnce(&mut Failure) -> Status) -> Result<(), CallError> {
        let core = alive(&self.core)?;
        core.world.slices.allow_change(&self.what)?;
        core.world.mode.may_call(name, || Reach::Static(self.gate.tag().id))?;
        core.red.call_module(&self.gate, &self.what, call)
    }
}

/// A protocol of a module's. What it says of itself was asked for once.
struct ModuleProtocol {
    code: Registered,
    number: u64,
    word: String,
    form: String,
    way_out: String,
    /// None where there is nothing to read.
    read: Option<alcedo_abi::protocols::ReadAddress>,
}

impl Protocol for ModuleProtocol {
    fn word(&self) -> &str {
        &self.word
    }

    fn form(&self) -> &str {
        &self.form
    }

    fn way_out(&self) -> &str {
        &self.way_out
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        let Some(read) = self.read else { return PlainProtocol::new(&self.word).read(address) };
        let begin = address.flaw(NameFlaw::Empty("address"));
        let text = address.all("address")?;
        let name = format!("{}:{text}", self.word);
        let (done, spelling) = collect_text(|sink| {
            // SAFETY: the module gave the function with this number; the gate is open, so its image is mapped; the rest is lent
            // for the call.
            self.code.enter(&name, |failure| unsafe { (read.0)(self.number, RStr::from_str(text), sink, failure) })
        });
        match done {
            Ok(()) => Ok(spelling),
            Err(CallError::Other { message }) => Err(NameError { flaw: NameFlaw::Other(message), ..begin }),
            Err(error) => Err(NameError { flaw: NameFlaw::Other(error.to_string()), ..begin }),
        }
    }
}

struct ModuleResolver {
    code: Rc<Registered>,
    number: u64,
    resolve: alcedo_abi::protocols::ResolveName,
    call: alcedo_abi::protocols::CallResolved,
    drop: alcedo_abi::protocols::DropResolved,
}

impl Resolver for ModuleResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        let mut answer = Resolution::declined();
        let full = name.to_string();
        // SAFETY: the module gave the function with this number; the gate is open, so its image is mapped; the rest is lent for the
        // call.
        let resolve = |failure: &mut Failure| unsafe {
            (self.resolve.0)(self.number, RStr::from_str(name.rest()), &mut answer, failure)
        };
        self.code.enter(&full, resolve)?;
        match answer.kind {
            ResolutionKind::DECLINED => Ok(Answer::declined(answer.text.as_str())),
            ResolutionKind::FUNCTION => {
                let function = ModuleFunction {
                    code: Rc::clone(&self.code),
                    name: full,
                    number: answer.function,
                    call: self.call,
                    drop: self.drop,
                };
                let signature = described_by_module(answer.text.as_str(), answer.fingerprint);
                Ok(Answer::Function(Resolved::new(signature, function).by_module(self.code.gate.tag().id)))
            }
            other => Err(CallError::other(format!("an answer of the unknown kind {}", other.0))),
        }
    }
}

/// A function that a resolver of a module has answered with.
struct ModuleFunction {
    code: Rc<Registered>,
    name: String,
    number: u64,
    call: alcedo_abi::protocols::CallResolved,
    drop: alcedo_abi::protocols::DropResolved,
}

impl Dispatcher for ModuleFunction {
    fn call(&self, call: Call<'_>) -> Result<(), CallError> {
        let mut buffer = call.into_buffer();
        // SAFETY: the resolver answered with this number, which is dropped when `self` is; the gate is open, so the image is mapped;
        // the buffer is lent for the call, and its slots are what the signature says, which was compared when the name was
        // resolved.
        self.code.enter(&self.name, |failure| unsafe { (self.call.0)(self.number, buffer.raw(), failure) })
    }
}

impl Drop for ModuleFunction {
    fn drop(&mut self) {
        // Where its gate is shut, the module drops it itself when it ends.
        if !self.code.gate.is_open() || self.code.core.strong_count() == 0 {
            return;
        }
        // SAFETY: as for a call; nobody has the number any more.
        let dropped = self.code.enter(&self.name, |failure| unsafe { (self.drop.0)(self.number, failure) });
        if let Err(error) = dropped {
            tracing::error!(module = &*self.code.gate.tag().name, name = self.name, %error, "a function of a resolver was not dropped");
        }
    }
}
