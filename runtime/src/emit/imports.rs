//! Fills the cells of a module. A cell is a static variable of the module, in which the host stores the id, offset or call handle of one
//! declaration or import of the module. Reports missing members and different signatures before any hook of the module runs.
#![expect(unsafe_code, reason = "the module trusts the filled cells")]

use std::rc::Rc;

use alcedo_abi::describe::{Cell, ClassDesc, ImportDesc, ImportKind, PropertyDesc, StructDesc};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::property_flags;

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::emit::error::EmitError;
use crate::object::class::Class;
use crate::object::origin::Origin;
use crate::object::path::{MemberPath, PathError, TypePath};
use crate::object::structs::StructType;
use crate::object::type_text::TypeText;

/// Fills the [`Cell`]s of a class that the module declares.
///
/// # Errors
/// Returns an error if the signature or the parameter block of a function differs between module and host.
pub(crate) fn fill_own(core: &Core, module: &str, described: &ClassDesc, class: &Rc<Class>) -> Result<(), EmitError> {
    fill(described.cell, u64::from(class.id.0));
    for property in described.properties.iter() {
        let found = class.own_properties.iter().find(|found| *found.text == *property.name);
        if let (Some(cell), Some(found)) = (property.cell.into_option(), found) {
            fill(cell, u64::from(found.offset));
        }
    }
    for function in described.functions.iter() {
        let Some(found) = class.own_functions.iter().find(|found| *found.text == *function.name) else { continue };
        let disagree = |why: String| disagree(module, &found.path, why);
        if found.fingerprint != function.fingerprint {
            return Err(disagree(format!(
                "which is ({}) here, and is hashed differently in the module",
                found.signature()
            )));
        }
        let ours = (found.params_size(), found.params_align());
        if ours != (function.params_size as usize, function.params_align as usize) {
            return Err(disagree(format!(
                "whose parameters take {} bytes here and {} bytes in the module",
                ours.0, function.params_size
            )));
        }
        let number = handle(core, &format!("uf:{}", found.path), 0).map_err(|error| disagree(error.to_string()))?;
        fill(function.cell, number);
    }
    Ok(())
}

/// Checks that a struct has the same layout in the host and in the module that declares it.
///
/// # Errors
/// Returns an error if the size, the alignment, an offset or the fingerprint differs. A zero fingerprint is also compared.
pub(crate) fn check_own(module: &str, described: &StructDesc, found: &StructType) -> Result<(), EmitError> {
    let disagree = |why: String| disagree(module, &found.path, why);
    if (found.size(), found.align()) != (described.size as usize, described.align as usize) {
        let (ours, theirs) = ((found.size(), found.align()), (described.size, described.align));
        return Err(disagree(format!(
            "which takes {} bytes, aligned to {}, here and {} bytes, aligned to {}, in the module",
            ours.0, ours.1, theirs.0, theirs.1
        )));
    }
    // The module lists the base struct as the first field.
    let offsets = found.base().map(|_| 0).into_iter().chain(found.own_fields().iter().map(|field| field.offset));
    if !offsets.eq(described.fields.iter().map(|field| field.offset)) || found.fingerprint() != described.fingerprint {
        return Err(disagree(difference(found, &described.fields)));
    }
    Ok(())
}

/// Fills the [`Cell`] of an import. `all` contains all imports of the module.
///
/// # Errors
/// Returns an error if the import is missing, or if its declaration has changed since the module was built.
pub(crate) fn fill_import(
    core: &Core,
    module: &str,
    import: &ImportDesc,
    all: &[&ImportDesc],
) -> Result<(), EmitError> {
    let path = import.path.as_str();
    let wrong = |why: String| EmitError::Import {
        module: module.to_owned(),
        path: path.to_owned(),
        why,
        help: older_side(core, import, all),
    };
    let missing = || wrong("which does not exist".into());
    check_path(import.kind, path).map_err(|error| wrong(format!("which is refused: {error}")))?;
    let types = &core.world.types;
    let number = match import.kind {
        ImportKind::CLASS => {
            let class = types.class_by_path(path).ok_or_else(missing)?;
            // Module code may access members of a base class on objects of the derived class. The class must therefore still extend the
            // base class with which the module was built.
            let is_base = |class: &Rc<Class>| Fingerprint::START.text(&class.path).finish() == import.fingerprint;
            if !class.chain().iter().any(is_base) {
                let base = class.base.as_ref().map_or("nothing", |base| &*base.path);
                return Err(wrong(format!("which extends {base} here and {} in the module", import.expected)));
            }
            u64::from(class.id.0)
        }
        ImportKind::PROPERTY => {
            let property = types.property_by_path(path).ok_or_else(missing)?;
            // Rejects a redirect to a member of an unrelated class. The module would use the offset of that member on objects of the class
            // in the path.
            let class = path.split_once(':').and_then(|(class, _)| types.class_by_path(class)).ok_or_else(missing)?;
            if !class.chain().iter().any(|class| class.path == property.owner) {
                return Err(wrong(format!("which is a member of {} here", property.owner)));
            }
            if property.ty.fingerprint() != import.fingerprint {
                return Err(wrong(format!("which is {} here and {} in the module", property.ty, import.expected)));
            }
            u64::from(property.offset)
        }
        ImportKind::FUNCTION | ImportKind::FUNCTION_FINAL => {
            let protocol = if import.kind == ImportKind::FUNCTION { "uf" } else { "uf!" };
            let number = handle(core, &format!("{protocol}:{path}"), import.fingerprint);
            number.map_err(|error| wrong(why(core, import, &error)))?
        }
        ImportKind::STRUCT => {
            let found = types.struct_by_path(path).ok_or_else(missing)?;
            if found.fingerprint() != import.fingerprint {
                return Err(wrong(difference(&found, &import.fields)));
            }
            0
        }
        ImportKind::ENUM => {
            let found = types.enum_by_path(path).ok_or_else(missing)?;
            if found.fingerprint() != import.fingerprint {
                let here = found.entries().iter().map(|entry| format!("{} = {}", entry.name, entry.number));
                let here = here.collect::<Vec<_>>().join(", ");
                let expected = import.expected.as_str();
                return Err(wrong(match here == expected {
                    true => format!("whose numbers are {} here, and of another type in the module", found.underlying()),
                    false => format!("which has the entries ({here}) here and ({expected}) in the module"),
                }));
            }
            0
        }
        ImportKind::DELEGATE => {
            let found = types.delegate_by_path(path).ok_or_else(missing)?;
            if found.fingerprint() != import.fingerprint {
                let kind = found.kind.text().unwrap_or("?");
                return Err(wrong(format!(
                    "which is {kind}({}) here and {} in the module",
                    found.type_text(),
                    import.expected
                )));
            }
            0
        }
        ImportKind::INTERFACE => {
            types.interface_by_path(path).ok_or_else(missing)?;
            0
        }
        other => return Err(wrong(format!("in a way unknown to this host ({})", other.0))),
    };
    fill(import.cell, number);
    Ok(())
}

/// Creates the error for a declaration of the module whose layout or signature hash the host computes differently than the module.
fn disagree(module: &str, path: &str, why: String) -> EmitError {
    let help = "rebuild the module with the alcedo-plugin-api of this host".to_owned();
    EmitError::Import { module: module.to_owned(), path: path.to_owned(), why, help }
}

/// Compares the members of the imported type in this host with the members for which the module was built. Returns a help text with the
/// older side and a fix.
fn older_side(core: &Core, import: &ImportDesc, all: &[&ImportDesc]) -> String {
    let types = &core.world.types;
    let path = import.path.as_str();
    let path = path.split_once(':').map_or(path, |(class, _)| class);
    let (here, there, origin): (Vec<Rc<str>>, Vec<&str>, _) = if let Some(found) = types.struct_by_path(path) {
        let there = import.fields.iter().filter(|field| field.flags & property_flags::BASE == 0);
        let here = found.own_fields().iter().map(|field| Rc::clone(&field.text));
        (here.collect(), there.map(|field| field.name.as_str()).collect(), Some(found.origin))
    } else {
        // The module imports only the functions that it uses. A function without an import may therefore exist in the glue.
        let found = types.class_by_path(path);
        let here = found.iter().flat_map(|class| class.own_properties.iter().map(|member| Rc::clone(&member.text)));
        let glue = all.iter().filter(|import| import.kind == ImportKind::CLASS && import.path.as_str() == path);
        let there = glue.flat_map(|import| import.fields.iter()).map(|field| field.name.as_str());
        let function = import.path.as_str().strip_prefix(path).and_then(|member| member.strip_prefix(':'));
        let is_gone = |name: &&str| found.as_ref().is_some_and(|class| class.find_function(name).is_none());
        let gone = function.filter(|_| import.kind != ImportKind::PROPERTY).filter(is_gone);
        (here.collect(), there.chain(gone).collect(), found.as_ref().map(|class| class.origin))
    };
    help(origin, &here, &there)
}

/// Determines the older side from the member names in this host and in the module, and returns the help text.
fn help(origin: Option<Origin>, here: &[Rc<str>], there: &[&str]) -> String {
    let (owner, renew) = match origin {
        Some(Origin::Native) => ("the host", "build the host again and restart it"),
        Some(_) => ("its module", "build and load its module again"),
        None => ("its owner", "build the host or the module that declares it again, and load that"),
    };
    let only_here = here.iter().find(|name| !there.contains(&&***name));
    let only_there = there.iter().find(|name| here.iter().all(|member| **member != ***name));
    let rewrite = "write the glue again with `alcedo glue`, and rebuild the module";
    match (only_here, only_there) {
        (Some(name), None) => format!("the glue is older than {owner}, which also has `{name}`: {rewrite}"),
        (None, Some(name)) => format!(
            "{owner} is older than the glue, which also has `{name}`: {renew}; or `{name}` was removed: {rewrite}"
        ),
        _ => format!("the glue or {owner} is older: {rewrite}; or {renew}"),
    }
}

/// Fills a cell. Called only in this file, after the declaration in the host was compared with the description in the module.
fn fill(cell: &Cell, number: u64) {
    // SAFETY: the callers take cell and number from one description, and have already compared the description with the
    // declaration.
    unsafe { cell.fill(number) };
}

/// Checks that the path of an import has the form that its kind requires. Later code compares the path, formats the path, and embeds the
/// path in strings.
fn check_path(kind: ImportKind, path: &str) -> Result<(), PathError> {
    match kind {
        ImportKind::PROPERTY | ImportKind::FUNCTION | ImportKind::FUNCTION_FINAL => {
            path.parse::<MemberPath>().map(|_member| ())
        }
        ImportKind::DELEGATE if path.contains(':') => path.parse::<MemberPath>().map(|_member| ()),
        _ => path.parse::<TypePath>().map(|_type| ()),
    }
}

fn handle(core: &Core, name: &str, fingerprint: u64) -> Result<u64, CallError> {
    core.zcalls.resolve(&core.chain, name, fingerprint).map(|handle| handle.0.cast_unsigned())
}

fn why(core: &Core, import: &ImportDesc, error: &CallError) -> String {
    match error {
        CallError::NotFound { .. } => "which does not exist".into(),
        CallError::Signature { found, .. } => {
            let expected = import.expected.as_str();
            let function = core.world.types.function_by_path(import.path.as_str());
            match function.as_ref().map(|function| function.signature_text()).filter(|words| *words != expected) {
                Some(words) => format!("which has the signature ({words}) here and ({expected}) in the module"),
                // The two signatures have equal type names, but a type in the signatures has a different layout.
                None => format!("which has the signature ({found}) here, and another in the module"),
            }
        }
        other => format!("which cannot be called: {other}"),
    }
}

/// Describes the first difference between the fields of a struct and the fields for which the module was built.
fn difference(found: &StructType, expected: &[PropertyDesc]) -> String {
    let is_base = |field: &&PropertyDesc| field.flags & property_flags::BASE != 0;
    let (here, there) = (found.base().map(|base| &*base.path), expected.iter().find(is_base));
    let there = there.map(|base| base.type_path.as_str());
    if here != there {
        let (here, there) = (here.unwrap_or("nothing"), there.unwrap_or("nothing"));
        return format!("which extends {here} here and {there} in the module");
    }
    for field in expected.iter().filter(|field| !is_base(field)) {
        let (name, path) = (field.name.as_str(), field.type_path.as_str());
        let ty = TypeText::of_declaration(field.kind, path).map_or_else(|error| error.text, |ty| ty.to_string());
        match found.field(name) {
            None => return format!("whose field `{name}: {ty}` does not exist"),
            Some(there) if (there.ty.kind(), there.ty.type_path()) != (field.kind, path) => {
                return format!("whose field `{name}` is {} here and {ty} in the module", there.ty);
            }
            Some(there) if there.offset != field.offset => {
                return format!(
                    "whose field `{name}` is at byte {} here and at byte {} in the module",
                    there.offset, field.offset
                );
            }
            Some(_) => {}
        }
    }
    match found.own_fields().iter().find(|there| expected.iter().all(|field| *field.name.as_str() != *there.text)) {
        Some(more) => format!("whose field `{}: {}` is unknown to the module", more.text, more.ty),
        None => "whose layout here differs from the one in the module".into(),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::describe::ImportKind;

    use super::{Origin, check_path, help};

    #[test]
    fn the_members_show_whether_host_or_glue_is_older() {
        let check = |here: &[&str], there: &[&str], expected: &str| {
            let here: Vec<_> = here.iter().map(|name| (*name).into()).collect();
            let text = help(Some(Origin::Native), &here, there);
            assert!(text.starts_with(expected), "{text}");
        };
        check(&["x", "y"], &["x"], "the glue is older than the host, which also has `y`: write the glue again");
        check(&["x"], &["x", "y"], "the host is older than the glue, which also has `y`: build the host again");
        check(&["x", "y"], &["x", "z"], "the glue or the host is older: write the glue again");
        check(&["x"], &["x"], "the glue or the host is older: write the glue again");
    }

    #[test]
    fn a_path_with_syntax_in_it_is_refused_before_it_is_used() {
        for (kind, path) in [
            (ImportKind::CLASS, "/Script/Game.Cube"),
            (ImportKind::INTERFACE, "/Script/Game.Heeds"),
            (ImportKind::PROPERTY, "/Script/Game.Cube:speed"),
            (ImportKind::FUNCTION_FINAL, "/Script/Game.Cube:spin"),
            (ImportKind::DELEGATE, "/Script/Game.OnHit"),
            (ImportKind::DELEGATE, "/Script/Game.Cube:OnHit"),
        ] {
            assert_eq!(check_path(kind, path), Ok(()), "{path}");
        }
        for (kind, path) in [
            (ImportKind::INTERFACE, "/Script/Game.Innocent), Delegate(Array(u8"),
            (ImportKind::STRUCT, "/Script/Game.Words\u{1b}[2J"),
            (ImportKind::CLASS, "/Script/Game.Cube:speed"),
            (ImportKind::DELEGATE, "/Script/Game.Cube:OnHit:a"),
            (ImportKind::DELEGATE, "/Script/Game.OnHit(u8)"),
            (ImportKind::CLASS, "/Script/Game.Cube\0"),
            (ImportKind::PROPERTY, "/Script/Game.Cube"),
            (ImportKind::FUNCTION, "/Script/Game.Cube:spin\nfake line"),
        ] {
            assert!(check_path(kind, path).is_err(), "{path:?}");
        }
    }
}
