//! Protocols and resolvers that modules register. The resolver chain does not distinguish protocols of modules and protocols of the host.
//! Each call of a module's code passes the gate of the module and opens a red frame. A registration ends with the generation of the module.
#![expect(unsafe_code, reason = "calls the functions that modules have registered")]

use std::rc::{Rc, Weak};

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::protocols::{ProtocolDesc, Resolution, ResolutionKind, ResolverDesc};

use crate::boundary::CallError;
use crate::bridge::core::{Core, alive};
use crate::bridge::described_protocol::DescribedProtocol;
use crate::conjugate::gate::Gate;
use crate::handles::ModuleId;
use crate::object::mode::Reach;
use crate::signature::described_by_module;
use crate::zcall::buffer::collect_text;
use crate::zcall::call::{Call, Dispatcher, Resolved};
use crate::zcall::chain::{Answer, Origin};
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::{PlainProtocol, Protocol};
use crate::zcall::reader::{NameError, NameErrorKind, Reader};

/// Description borrowed from a module. The functions in the description match their declared types.
pub(crate) struct BorrowedDesc<'a, D>(&'a D);

impl<'a, D> BorrowedDesc<'a, D> {
    /// Borrows the description.
    ///
    /// # Safety
    /// The functions in the description belong to the registering module, and match their declared types if they are called with the number
    /// in the description.
    pub(crate) unsafe fn new(description: &'a D) -> Self {
        Self(description)
    }
}

/// Adds a protocol of a module. Returns an error if the protocol's keyword is used or invalid. Before a commit, only a module that is
/// starting can add a protocol, because a rollback could not undo a registration by a module that already runs.
pub(crate) fn add_protocol(
    core: &Rc<Core>,
    module: ModuleId,
    protocol: &BorrowedDesc<'_, ProtocolDesc<'_>>,
) -> Result<(), CallError> {
    let BorrowedDesc(ProtocolDesc { number, word, form, help, read, is_plain }) = *protocol;
    let code = Registered::new(core, module, format!("the protocol `{word}`"))?;
    let [word, form, help] = [word, form, help].map(|text| text.as_str().to_owned());
    let origin = Origin::Module(module);
    if *is_plain != 0 {
        let plain = PlainProtocol::new(&word);
        let read = move |address: &mut Reader<'_>| plain.read(address);
        return core.chain.add_protocol(Rc::new(DescribedProtocol { word, form, help, read }), origin);
    }
    let (number, parse, scheme) = (*number, *read, word.clone());
    let read = move |address: &mut Reader<'_>| {
        address.fixed("/")?;
        let begin = address.error(NameErrorKind::Empty("address"));
        let text = address.all("address")?;
        // The resolvers of the protocol belong to this module, so the lookup of the name then fails with the typed error.
        if alive(&code.core).is_ok_and(|core| is_refused(&core, code.gate.tag().id)) {
            return Ok(format!("/{text}"));
        }
        let (done, spelling) = collect_text(|sink| {
            // SAFETY: the module registered the function together with `number`. The gate is open, so the image is mapped. The other
            // arguments are borrowed for the call.
            code.enter(&format!("{scheme}:/{text}"), |failure| unsafe {
                (parse.0)(number, RStr::from_str(text), sink, failure)
            })
        });
        match done {
            Ok(()) => Ok(format!("/{spelling}")),
            Err(CallError::Other { message }) => Err(NameError { kind: NameErrorKind::Other(message), ..begin }),
            Err(error) => Err(NameError { kind: NameErrorKind::Other(error.to_string()), ..begin }),
        }
    };
    core.chain.add_protocol(Rc::new(DescribedProtocol { word, form, help, read }), origin)
}

/// Adds a resolver of a module. Returns the errors of [`add_protocol`], and an error if modules cannot resolve names of this protocol.
pub(crate) fn add_resolver(
    core: &Rc<Core>,
    module: ModuleId,
    resolver: &BorrowedDesc<'_, ResolverDesc<'_>>,
) -> Result<(), CallError> {
    let BorrowedDesc(&ResolverDesc { number, protocol, label, priority, resolve, call, drop }) = *resolver;
    let (protocol, label) = (protocol.as_str(), label.as_str());
    let code = Rc::new(Registered::new(core, module, format!("the resolver `{label}`"))?);
    let resolve_name = move |name: &ZCallName| {
        let mut answer = Resolution::declined();
        let full = name.to_string();
        // SAFETY: the module registered the function together with `number`. The gate is open, so the image is mapped. The other arguments
        // are borrowed for the call.
        let run =
            |failure: &mut Failure| unsafe { (resolve.0)(number, RStr::from_str(name.rest()), &mut answer, failure) };
        code.enter(&full, run)?;
        match answer.kind {
            ResolutionKind::DECLINED => Ok(Answer::declined(answer.text.as_str())),
            ResolutionKind::FUNCTION => {
                let (code, number) = (Rc::clone(&code), answer.function);
                let function = ModuleFunction { code, name: full, number, call, drop };
                let signature = described_by_module(answer.text.as_str(), answer.fingerprint);
                Ok(Answer::Function(Resolved::new(signature, function).by_module(module)))
            }
            other => Err(CallError::other(format!("an answer of the unknown kind {}", other.0))),
        }
    };
    core.chain.add(protocol, Origin::Module(module), priority, label, Rc::new(resolve_name))
}

/// Code that a module has registered: the gate through which calls enter the module, and the name of their red frames.
struct Registered {
    core: Weak<Core>,
    gate: Rc<Gate>,
    what: Rc<str>,
}

impl Registered {
    fn new(core: &Rc<Core>, module: ModuleId, what: String) -> Result<Self, CallError> {
        if is_refused(core, module) {
            return Err(CallError::DuringRebuild { action: format!("registering {what}") });
        }
        Ok(Self { core: Rc::downgrade(core), gate: core.tasks.gate(module)?, what: what.into() })
    }

    /// Runs code of the module, on behalf of a call of `name`.
    fn enter(&self, name: &str, call: impl FnOnce(&mut Failure) -> Status) -> Result<(), CallError> {
        let core = alive(&self.core)?;
        core.world.slices.allow_change(&self.what)?;
        core.world.mode.may_call(name, || Reach::Static(self.gate.tag().id))?;
        core.red.call_module(&self.gate, &self.what, call)
    }
}

/// Checks if code of the module may not run now, because a rollback could not undo its effects.
fn is_refused(core: &Core, module: ModuleId) -> bool {
    let mode = &core.world.mode;
    mode.is_before_commit() && !mode.is_starting(module)
}

/// Function that a resolver of a module has returned.
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
        // SAFETY: the resolver returned `self.number`, and the drop of `self` releases the number. The gate is open, so the image is mapped.
        // The buffer is borrowed for the call. Its slots match the signature, which was compared when the name was resolved.
        self.code.enter(&self.name, |failure| unsafe { (self.call.0)(self.number, buffer.raw(), failure) })
    }
}

impl Drop for ModuleFunction {
    fn drop(&mut self) {
        // After the gate has closed, the module itself drops the function when it exits.
        if !self.code.gate.is_open() || self.code.core.strong_count() == 0 {
            return;
        }
        // SAFETY: as for a call. The number is not used after this drop.
        let dropped = self.code.enter(&self.name, |failure| unsafe { (self.drop.0)(self.number, failure) });
        if let Err(error) = dropped {
            log!(ERROR, module = &*self.code.gate.tag().name, name = self.name, %error, "a function of a resolver was not dropped");
        }
    }
}
