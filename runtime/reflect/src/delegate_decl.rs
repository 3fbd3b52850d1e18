//! Checks delegate declarations before compilation: path, type and owner class.

use std::collections::HashMap;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};

use crate::decl::{Batch, DelegateDecl, RESULT_NAME};
use crate::delegate_text::format_named;
use crate::refusal::DeclareError;
use crate::type_text::{SignatureText, TypeText};
use crate::typing::TypeError;
use crate::values::{Form, name_of};

/// Returns the kind of a delegate, and the text inside the parentheses of its type.
pub(super) fn delegate_type_text(decl: &DelegateDecl) -> Result<(PropertyKind, Rc<str>), DeclareError> {
    let path = decl.path();
    let bad = |problem: String| DeclareError::BadDelegate { path: path.clone(), problem };
    if decl.kind.form() != Form::Signature {
        return Err(bad(format!("it is a {}: use a single, a multicast or a sparse delegate", name_of(decl.kind))));
    }
    let mut signature = SignatureText::default();
    for (at, param) in decl.params.iter().enumerate() {
        let of = TypeText::of_declaration(param.kind, &param.type_path).map_err(|error| DeclareError::BadType {
            member: format!("{path}:{}", param.name),
            text: format!("{}({})", name_of(param.kind), param.type_path),
            error: TypeError::from(error),
        })?;
        let is_result = param.flags & property_flags::RETURN != 0;
        if is_result && (at + 1 != decl.params.len() || param.name != RESULT_NAME) {
            return Err(DeclareError::ResultNotLast { function: path });
        }
        if param.flags & property_flags::OUT != 0 {
            return Err(bad(format!("`{}` is an out parameter, which a delegate cannot have", param.name)));
        }
        if is_result { signature.result = Some(Box::new(of)) } else { signature.arguments.push(of) }
    }
    if signature.result.is_some() && decl.kind != PropertyKind::DELEGATE {
        return Err(bad(format!(
            "a {} calls any number of functions and has no result: remove the result, or use a single delegate",
            name_of(decl.kind)
        )));
    }
    Ok((decl.kind, format_named(&path, &signature.to_string()).into()))
}

/// Checks the owner class of each delegate. The batch must declare the class, and the class must not have a member with the delegate's
/// name.
pub(super) fn check_classes(batch: &Batch) -> Result<(), DeclareError> {
    if batch.delegates.iter().all(|decl| decl.class.is_empty()) {
        return Ok(());
    }
    let classes: HashMap<_, _> = batch.classes.iter().map(|class| (class.path(), class)).collect();
    for decl in batch.delegates.iter().filter(|decl| !decl.class.is_empty()) {
        let class = classes.get(&decl.class).filter(|class| class.origin == decl.origin).ok_or_else(|| {
            DeclareError::BadDelegate {
                path: decl.path(),
                problem: format!("{} is not declared with the delegate: declare both together", decl.class),
            }
        })?;
        let mut members = class.properties.iter().map(|property| &property.name);
        let mut functions = class.functions.iter().map(|function| &function.name);
        if members.any(|name| *name == decl.name) || functions.any(|name| *name == decl.name) {
            return Err(DeclareError::DuplicateMember { owner: decl.class.clone(), name: decl.name.clone() });
        }
    }
    Ok(())
}
