//! Checks and compiles the declaration of an enum.

use std::collections::HashSet;

use crate::decl::EnumDecl;
use crate::enums::{EnumType, fingerprint, range};
use crate::property::PropertyType;
use crate::refusal::{DeclareError, check_member};

pub(super) fn compile_enum(decl: &EnumDecl) -> Result<EnumType, DeclareError> {
    let path = decl.path();
    let bad = |problem: String| DeclareError::BadEnum { path: path.clone(), problem };
    let underlying = range(decl.underlying).zip(PropertyType::plain(decl.underlying));
    let (range, underlying) = underlying
        .ok_or_else(|| bad("its numbers are not of an integer kind: use one of u8 to u64 or i8 to i64".into()))?;
    let (mut names, mut numbers) = (HashSet::new(), HashSet::new());
    for entry in &decl.entries {
        check_member(&mut names, &entry.name, &path)?;
        if !numbers.insert(entry.number) {
            return Err(bad(format!("`{}` has the number {} of another entry", entry.name, entry.number)));
        }
        if !range.contains(&entry.number) {
            return Err(bad(format!("`{}` is {}, which does not fit in {underlying}", entry.name, entry.number)));
        }
        if decl.is_flags && entry.number < 0 {
            return Err(bad(format!("`{}` is negative, and flags are bits", entry.name)));
        }
    }
    if !decl.is_flags && !numbers.contains(&0) {
        return Err(bad("no entry has the number 0, the initial value".into()));
    }
    let compiled = EnumType {
        path: path.as_str().into(),
        name: decl.name.as_str().into(),
        package: decl.package.as_str().into(),
        origin: decl.origin,
        doc: decl.doc.as_str().into(),
        is_flags: decl.is_flags,
        entries: decl.entries.clone(),
        underlying,
        fingerprint: fingerprint(decl.underlying, decl.is_flags, &decl.entries),
    };
    if decl.fingerprint != 0 && decl.fingerprint != compiled.fingerprint() {
        let entries = decl.entries.iter().map(|entry| format!("{} = {}", entry.name, entry.number));
        return Err(DeclareError::Fingerprint { path, found: entries.collect::<Vec<_>>().join(", ") });
    }
    Ok(compiled)
}
