//! Registry of the static functions that modules export, for calls by name.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::describe::{ExportDesc, ZCallInvoke};
use alcedo_abi::direct::DirectTrampoline;

use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::handles::ModuleId;

/// Static function of a module. The address is valid while the image is mapped. A caller must keep the image mapped by a lease or an entered
/// gate.
#[derive(Clone)]
pub(crate) struct ModuleExport {
    /// Path of the type that declares the function, as declared by the module. Empty for functions of the protocol `ex`.
    pub type_path: Arc<str>,
    pub name: Arc<str>,
    /// ZCall name, for errors and reports.
    pub full: Arc<str>,
    pub fingerprint: u64,
    /// Signature as a string.
    pub signature: Arc<str>,
    pub invoke: ZCallInvoke,
    /// Trampoline for direct calls. `None` if a parameter or the result is not a plain value.
    pub direct: Option<DirectTrampoline>,
}

impl ModuleExport {
    pub(crate) fn of(module: &str, described: &ExportDesc) -> Self {
        let (type_path, name) = (described.type_path.as_str(), described.name.as_str());
        Self {
            full: export_name(module, type_path, name).into(),
            type_path: type_path.into(),
            name: name.into(),
            fingerprint: described.fingerprint,
            signature: described.signature.as_str().into(),
            invoke: described.invoke,
            direct: described.direct.into_option(),
        }
    }
}

/// Static function of a module of the world.
#[derive(Clone)]
pub(crate) struct Export {
    pub gate: Rc<Gate>,
    pub function: ModuleExport,
}

impl Deref for Export {
    type Target = ModuleExport;

    fn deref(&self) -> &ModuleExport {
        &self.function
    }
}

/// Returns the ZCall name of a module's function.
pub(crate) fn export_name(module: &str, type_path: &str, name: &str) -> String {
    if type_path.is_empty() { format!("ex:/{name}") } else { format!("nm:/{module}:{type_path}:{name}") }
}

/// Static functions of all modules. Game thread only.
#[derive(Default)]
pub(crate) struct Exports {
    /// Static functions by module id. Ids of newer modules are larger.
    by_module: RefCell<BTreeMap<ModuleId, Vec<Export>>>,
}

impl Exports {
    pub(crate) fn add(&self, export: Export) {
        self.by_module.borrow_mut().entry(export.gate.tag().id).or_default().push(export);
    }

    pub(crate) fn end_module(&self, module: ModuleId) {
        self.by_module.borrow_mut().remove(&module);
    }

    /// Returns one description line per function, sorted.
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

    /// Finds a function. `type_path` may be a full path, `Package.Type` or a plain name. If two builds of a module are loaded, returns the
    /// function of the older build until the gate of that build closes.
    ///
    /// # Errors
    /// Returns the names of two functions if the plain name fits two types of one build, and is the whole path of neither type.
    pub(crate) fn find(&self, module: &str, type_path: &str, name: &str) -> Result<Option<Export>, String> {
        let exports = self.by_module.borrow();
        let is_meant = |export: &&Export| {
            let gate = &export.gate;
            gate.is_open()
                && *gate.tag().name == *module
                && *export.name == *name
                && is_type(&export.type_path, type_path)
        };
        let mut found: Vec<_> = exports.values().flatten().filter(is_meant).collect();
        let oldest = found.first().map(|export| export.gate.tag().id);
        found.retain(|export| Some(export.gate.tag().id) == oldest);
        prefer_whole_paths(&mut found, |export| *export.type_path == *type_path);
        match found[..] {
            [] => Ok(None),
            [export] => Ok(Some(export.clone())),
            [first, second, ..] => Err(format!("{} or {}", first.full, second.full)),
        }
    }
}

/// Removes the other candidates if the requested name is the whole path of a candidate's type. The path of an undeclared type is its plain
/// name, which may also fit a declared type.
pub(crate) fn prefer_whole_paths<T>(found: &mut Vec<T>, is_whole: impl Fn(&T) -> bool) {
    if found.iter().any(&is_whole) {
        found.retain(is_whole);
    }
}

/// Checks if `name_or_path` refers to the type with the path `path`.
pub(crate) fn is_type(path: &str, name_or_path: &str) -> bool {
    path == name_or_path
        || path.strip_prefix("/Script/").is_some_and(|short| {
            short == name_or_path || short.split_once('.').is_some_and(|(_package, name)| name == name_or_path)
        })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use alcedo_abi::call::{Failure, Status};
    use alcedo_abi::describe::ZCallInvoke;
    use alcedo_abi::zcall::ZCallBuffer;

    use super::{Export, Exports, ModuleExport, export_name, is_type};
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::handles::{Generation, ModuleId};

    /// Returns a function `sum` of the type, which no test calls.
    fn sum_of(type_path: &str, gate: &Rc<Gate>) -> Export {
        extern "C" fn never(_: &mut ZCallBuffer, _: &mut Failure) -> Status {
            unreachable!("no test calls the function")
        }
        let function = ModuleExport {
            type_path: type_path.into(),
            name: "sum".into(),
            full: export_name("m", type_path, "sum").into(),
            fingerprint: 0,
            signature: "".into(),
            invoke: ZCallInvoke(never),
            direct: None,
        };
        Export { gate: Rc::clone(gate), function }
    }

    #[test]
    fn a_plain_name_of_two_types_of_a_build_is_refused_with_both() {
        let exports = Exports::default();
        let [old, new] =
            [1, 2].map(|id| Gate::new(ModuleTag { id: ModuleId(id), name: "m".into(), generation: Generation(id) }));
        let find = |path: &str| exports.find("m", path, "sum").map(|found| found.map(|found| found.gate.tag().id.0));
        exports.add(sum_of("/Script/Game.Line", &old));
        exports.add(sum_of("/Script/Game.Line", &new));
        assert_eq!(find("Line"), Ok(Some(1)));
        exports.add(sum_of("/Script/Town.Line", &old));
        assert_eq!(find("Line"), Err("nm:/m:/Script/Game.Line:sum or nm:/m:/Script/Town.Line:sum".to_owned()));
        assert_eq!((find("Town.Line"), find("/Script/Game.Line")), (Ok(Some(1)), Ok(Some(1))));
        // The plain name is the whole path of an undeclared type.
        exports.add(sum_of("Line", &old));
        let found = exports.find("m", "Line", "sum").map(|found| found.map(|found| found.full.to_string()));
        assert_eq!(found, Ok(Some("nm:/m:Line:sum".to_owned())));
    }

    #[test]
    fn exported_types_are_found_by_path_short_path_and_name() {
        for name_or_path in ["/Script/Game.Cube", "Game.Cube", "Cube"] {
            assert!(is_type("/Script/Game.Cube", name_or_path), "{name_or_path}");
        }
        for name_or_path in ["Script/Game.Cube", "ube", "Other.Cube", ""] {
            assert!(!is_type("/Script/Game.Cube", name_or_path), "{name_or_path}");
        }
    }
}
