//! The static functions that modules offer as `nm:/module:type:name`.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::direct::DirectShell;

use crate::border::CallError;
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::module_thunk::export_call;
use crate::bridge::paths::script_type;
use crate::bridge::protocols::alive;
use crate::bridge::uf::function_call;
use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::handles::ModuleId;
use crate::zcall::chain::{Answer, Resolver};
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::Protocol;
use crate::zcall::reader::{NameError, Reader};

/// The protocol of functions of modules.
pub(crate) struct Nm;

impl Protocol for Nm {
    fn word(&self) -> &str {
        "nm"
    }

    fn form(&self) -> &str {
        "`nm:/module:Package.Type:method`"
    }

    fn way_out(&self) -> &str {
        "load the module, and export the method from it"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
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
}

/// What a name of that protocol says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Method<'a> {
    /// The module's name.
    pub module: &'a str,
    /// The type as it was written: `/Script/Package.Type`, `Package.Type` or `Type`.
    pub type_path: &'a str,
    /// The method's name.
    pub method: &'a str,
}

impl<'a> Method<'a> {
    /// What `name` says, if it is of that protocol.
    pub(crate) fn of(name: &'a ZCallName) -> Option<Self> {
        if name.protocol() != Nm.word() {
            return None;
        }
        let (module, rest) = name.rest().split_once(':')?;
        let (type_path, method) = rest.rsplit_once(':')?;
        Some(Self { module, type_path, method })
    }
}

/// Finds functions of modules: what they offer, and the functions of their classes.
pub(super) struct MethodResolver(pub(super) Weak<Core>);

impl Resolver for MethodResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
        let core = alive(&self.0)?;
        let Some(Method { module, type_path, method }) = Method::of(name) else { return Ok(Answer::declined("")) };
        if let Some(export) = core.exports.find(module, type_path, method) {
            return Ok(Answer::Function(export_call(export, &self.0)));
        }
        let hooks = core.hooks.borrow();
        let is_meant = |gate: &Gate| gate.is_open() && *gate.tag().name == *module;
        let owner = hooks
            .iter()
            .filter(|(_, hooks)| is_meant(&hooks.gate))
            .filter_map(|(id, hooks)| Some((core.world.types.class(id)?, hooks.gate.tag().id)))
            .filter(|(class, _)| is_type(&class.path, type_path))
            .min_by_key(|(_, module)| *module);
        let found = owner.and_then(|(class, module)| {
            let function = class.own_functions.iter().find(|function| *function.text == *method).cloned()?;
            Some(function_call(&self.0, function, Dispatch::Final).by_module(module))
        });
        Ok(found.map_or_else(|| Answer::declined(""), Answer::Function))
    }
}

/// One static function of a module.
#[derive(Clone)]
pub(crate) struct Export {
    /// The door of its module.
    pub gate: Rc<Gate>,
    /// Path of its type; empty for functions offered as `ex`.
    pub type_path: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
    /// The signature in words.
    pub signature: Rc<str>,
    /// The body.
    pub invoke: ZCallInvoke,
    /// The same without a buffer, where it has plain values only.
    pub direct: Option<DirectShell>,
}

/// The static functions of the modules. Game thread only.
#[derive(Default)]
pub(crate) struct Exports {
    /// The oldest module first.
    by_module: RefCell<BTreeMap<ModuleId, Vec<Export>>>,
}

impl Exports {
    /// Adds one.
    pub(crate) fn add(&self, export: Export) {
        self.by_module.borrow_mut().entry(export.gate.tag().id).or_default().push(export);
    }

    /// The module offers nothing any more.
    pub(crate) fn end_module(&self, module: ModuleId) {
        self.by_module.borrow_mut().remove(&module);
    }

    /// A line for each, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        let exports = self.by_module.borrow();
        let line = |export: &Export| {
            let tag = export.gate.tag();
            format!("nm {}:{}:{} of module {}", tag.name, export.type_path, export.name, tag.id.0)
        };
        let mut lines: Vec<_> = exports.values().flatten().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// The function of that address. The type may be given as a full path, as `Package.Type` or as its bare name. Of two
    /// builds of a module, the older answers until its gate is shut.
    pub(crate) fn find(&self, module: &str, type_path: &str, name: &str) -> Option<Export> {
        let exports = self.by_module.borrow();
        let is_meant = |export: &&Export| {
            let gate = &export.gate;
            gate.is_open()
                && *gate.tag().name == *module
                && *export.name == *name
                && is_type(&export.type_path, type_path)
        };
        exports.values().flatten().find(is_meant).cloned()
    }
}

/// Whether `asked` names the type of `path`.
pub(crate) fn is_type(path: &str, asked: &str) -> bool {
    path == asked
        || path
            .strip_prefix("/Script/")
            .is_some_and(|short| short == asked || short.split_once('.').is_some_and(|(_package, name)| name == asked))
}

#[cfg(test)]
mod tests {
    use super::is_type;

    #[test]
    fn a_type_is_known_by_its_path_its_short_path_and_its_name() {
        for asked in ["/Script/Game.Cube", "Game.Cube", "Cube"] {
            assert!(is_type("/Script/Game.Cube", asked), "{asked}");
        }
        for asked in ["Script/Game.Cube", "ube", "Other.Cube", ""] {
            assert!(!is_type("/Script/Game.Cube", asked), "{asked}");
        }
    }
}
