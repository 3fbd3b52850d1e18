//! Compiles interfaces, and compares each class with the interfaces that the class implements. Errors contain both signatures, because the
//! interface and the class may be declared in different modules.

use std::collections::HashSet;
use std::rc::Rc;

use alcedo_abi::handles::ClassId;
use rustc_hash::FxHashMap;

use crate::compile::Compiler;
use crate::decl::InterfaceDecl;
use crate::function::Function;
use crate::interface::Interface;
use crate::refusal::{DeclareError, check_member};

impl Compiler<'_> {
    /// Compiles the declaration of an interface. The structs of the batch must be compiled already.
    pub(super) fn interface(&self, decl: &InterfaceDecl) -> Result<Interface, DeclareError> {
        let path: Rc<str> = decl.path().into();
        let mut seen = HashSet::new();
        let mut functions = Vec::with_capacity(decl.functions.len());
        for function in &decl.functions {
            check_member(&mut seen, &function.name, &path)?;
            let mut function = self.function(function, (&path, ClassId::NONE, decl.origin), None, 0)?;
            (function.interface, function.vslot) = (Some(path.clone()), None);
            functions.push(Rc::new(function));
        }
        Ok(Interface {
            name: decl.name.as_str().into(),
            package: decl.package.as_str().into(),
            origin: decl.origin,
            functions,
            doc: decl.doc.as_str().into(),
            path,
        })
    }

    /// Checks that a class with the functions `functions` implements an interface.
    pub(super) fn check_implements(
        &self,
        class: &str,
        functions: &FxHashMap<Rc<str>, Rc<Function>>,
        interface: &str,
    ) -> Result<(), DeclareError> {
        let Some(interface) = self.find::<Interface>(interface) else { return Ok(()) };
        for required in &interface.functions {
            let found = functions.get(&required.text);
            if found.is_some_and(|found| found.fingerprint == required.fingerprint) {
                continue;
            }
            return Err(DeclareError::NotImplemented {
                class: class.to_owned(),
                interface: interface.path.to_string(),
                expected: format!("{}({})", required.text, required.signature()),
                found: match found {
                    Some(found) => format!("has {}({})", required.text, found.signature()),
                    None => format!("has no function {}", required.text),
                },
            });
        }
        Ok(())
    }
}
