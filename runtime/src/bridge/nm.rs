//! `nm:/module:type:name`: static functions that modules offer, and static functions of the classes that modules declare.

use std::rc::{Rc, Weak};

use crate::boundary::{CallError, not_found};
use crate::bridge::calls::Dispatch;
use crate::bridge::core::{Core, alive};
use crate::bridge::described_protocol::BuiltIn;
use crate::bridge::exports::is_type;
use crate::bridge::module_thunk::export_call;
use crate::bridge::paths::script_type;
use crate::bridge::uf::function_call;
use crate::conjugate::gate::Gate;
use crate::zcall::chain::Answer;
use crate::zcall::name::ZCallName;
use crate::zcall::reader::{NameError, Reader};

pub(crate) const NM: BuiltIn = BuiltIn {
    word: "nm",
    form: "`nm:/module:Package.Type:method`",
    help: "load the module, and export the method from it",
    read: read_address,
};

fn read_address(address: &mut Reader<'_>) -> Result<String, NameError> {
    let start = address.at();
    address.fixed("/")?;
    address.word("module")?;
    address.fixed(":")?;
    if address.rest().starts_with('/') {
        script_type(address)?;
    } else {
        address.word("type path")?;
        if address.rest().starts_with('.') {
            address.fixed(".")?;
            address.word("type")?;
        }
    }
    address.fixed(":")?;
    address.word("method")?;
    Ok(address.since(start).to_owned())
}

/// Parsed address of the protocol `nm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Method<'a> {
    pub module: &'a str,
    /// Type as written in the address: `/Script/Package.Type`, `Package.Type` or `Type`.
    pub type_path: &'a str,
    pub method: &'a str,
}

impl<'a> Method<'a> {
    /// Parses `name` if it belongs to the protocol `nm`.
    pub(crate) fn of(name: &'a ZCallName) -> Option<Self> {
        if name.protocol() != NM.word {
            return None;
        }
        let (module, rest) = name.rest().split_once(':')?;
        let (type_path, method) = rest.rsplit_once(':')?;
        Some(Self { module, type_path, method })
    }
}

/// Resolves an exported method of a module, or a function that a class of the module declares.
///
/// # Errors
/// Returns [`CallError::NotFound`] with both names if the plain name of a type fits two types.
pub(super) fn resolve(weak: &Weak<Core>, name: &ZCallName) -> Result<Answer, CallError> {
    let core = alive(weak)?;
    let Some(Method { module, type_path, method }) = Method::of(name) else { return Ok(Answer::declined("")) };
    let ambiguous =
        |found: String| not_found(format!("`{name}` may be {found}: name the whole type, or rename a type"));
    if let Some(export) = core.exports.find(module, type_path, method).map_err(ambiguous)? {
        return Ok(Answer::Function(export_call(export, weak)));
    }
    let hooks = core.hooks.borrow();
    let is_meant = |gate: &Gate| gate.is_open() && *gate.tag().name == *module;
    let owners: Vec<_> = hooks
        .iter()
        .filter(|(_, hooks)| is_meant(&hooks.gate))
        .filter_map(|(id, hooks)| Some((core.world.types.class(id)?, hooks.gate.tag().id)))
        .filter(|(class, _)| is_type(&class.path, type_path))
        .collect();
    let oldest = owners.iter().map(|(_, module)| *module).min();
    let mut found = owners.iter().filter(|(_, module)| Some(*module) == oldest).filter_map(|(class, module)| {
        Some((class.own_functions.iter().find(|function| *function.text == *method)?, *module))
    });
    match (found.next(), found.next()) {
        (Some((one, _)), Some((two, _))) => Err(ambiguous(format!("{} or {}", one.path, two.path))),
        (Some((function, module)), None) => {
            Ok(Answer::Function(function_call(weak, Rc::clone(function), Dispatch::Final).by_module(module)))
        }
        (None, _) => Ok(Answer::declined("")),
    }
}
