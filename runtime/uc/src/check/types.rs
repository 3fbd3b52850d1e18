//! Resolution of type expressions to types.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::fixed::MAX_FIXED_LEN;

use super::symbols::At;
use super::{Checker, Found};
use crate::ast::{Expr, Ident, TypeKind, TypeRef};
use crate::diagnostic::Diagnostic;
use crate::hir::{Const, ExprKind, Num, Path, Type};
use crate::token::lower;

/// Maximum number of values that the variables of a class, struct or function may hold. Counts each element of a fixed array and each field
/// of a struct.
pub(super) const MAX_VALUES: u64 = 1 << 20;

/// Maximum nesting depth of types. Reflection has a separate limit.
const MAX_TYPE_DEPTH: usize = 12;

/// Returns the type that a keyword names. Also returns true if no declaration can shadow the keyword.
pub(super) fn plain_type(name: &str) -> Option<(Type, bool)> {
    const RESERVED: [&str; 6] = ["int", "float", "byte", "bool", "string", "name"];
    let mut buffer = [0; 64];
    let word = &*lower(name, &mut buffer);
    let keyword = Type::KEYWORDS.iter().find(|(.., known)| *known == word).map(|(ty, ..)| ty.clone());
    // Number types have two names: the name in scripts, and the name in reflection.
    let is_named = |num: &Num| num.script_name() == word || num.kind().text() == Some(word);
    let ty = keyword.or_else(|| Num::ALL.into_iter().find(is_named).map(Type::Num))?;
    Some((ty, RESERVED.contains(&word)))
}

impl Checker<'_> {
    /// Resolves a type expression in a file, in the class with the path `class`.
    pub(super) fn type_of_ref(&self, ty: &TypeRef, file: usize, class: &str) -> Found<Type> {
        let found = self.type_of_ref_here(ty, file, class)?;
        if depth_of(&found) > MAX_TYPE_DEPTH {
            let message = format!("this type is nested more than {MAX_TYPE_DEPTH} deep");
            return self.refuse("uc-too-deep", (file, ty.span), message);
        }
        Ok(found)
    }

    fn type_of_ref_here(&self, ty: &TypeRef, file: usize, class: &str) -> Found<Type> {
        match &ty.kind {
            TypeKind::Named(names) => self.named_type(names, file, class),
            TypeKind::Generic(name, of) => self.generic_type(name, of, file, class),
            TypeKind::Delegate(names) => self.delegate_type(names, file, class),
            TypeKind::Struct(found) => self.named_type(std::slice::from_ref(&found.name), file, class),
            TypeKind::Enum(found) => self.named_type(std::slice::from_ref(&found.name), file, class),
        }
    }

    fn named_type(&self, names: &[Ident], file: usize, class: &str) -> Found<Type> {
        let last = &names[names.len() - 1];
        let plain = if names.len() == 1 { plain_type(&last.text) } else { None };
        if let Some((ty, true)) = plain {
            return Ok(ty);
        }
        if let Some(found) = self.type_named(names, file) {
            return found;
        }
        if let Some((ty, _)) = plain {
            return Ok(ty);
        }
        let at = (file, last.span);
        match last.text.to_ascii_lowercase().as_str() {
            "class" => Ok(Type::Class(self.root_of(class))),
            "array" => {
                let error = Diagnostic::error("uc-array-of", at, "the element type of this array is missing");
                Err(self.report(error.hint("write `array<int>`")))
            }
            "pointer" => self.refuse("uc-pointer", at, "`pointer` is a type of C++, which is outside of the language"),
            _ => {
                // A delegate name is a type only inside `delegate<X>`.
                if names.len() == 1 && self.find_delegate(class, &last.text).is_some() {
                    let error = Diagnostic::error("uc-unknown-type", at, format!("`{}` is a delegate", last.text));
                    return Err(self.report(error.hint(format!("write `delegate<{}>`", last.text))));
                }
                Err(self.unknown_type("type", names, file))
            }
        }
    }

    fn generic_type(&self, name: &Ident, of: &[TypeRef], file: usize, class: &str) -> Found<Type> {
        let word = name.text.to_ascii_lowercase();
        let reference = PropertyKind::ALL.iter().find(|kind| kind.script_words().contains(&word.as_str()));
        let expected = match word.as_str() {
            "array" | "set" | "optional" | "class" => 1,
            _ if reference.is_some() => 1,
            "map" => 2,
            _ => {
                let message = format!("`{}` takes no types between `<` and `>`", name.text);
                let mut names: Vec<_> =
                    PropertyKind::ALL.iter().filter_map(|kind| kind.script_words().first().copied()).collect();
                names.sort_unstable();
                let hint = format!("`array class delegate map optional set {}` do", names.join(" "));
                return Err(self.report(Diagnostic::error("uc-generic", (file, name.span), message).hint(hint)));
            }
        };
        if of.len() != expected {
            let s = if expected == 1 { "" } else { "s" };
            let message = format!("`{}` takes {expected} type{s}, not {}", name.text, of.len());
            return self.refuse("uc-generic", (file, name.span), message);
        }
        let inner = of.iter().map(|of| self.type_of_ref_here(of, file, class)).collect::<Found<Vec<_>>>()?;
        let class_of = |ty: &Type| match ty {
            Type::Object(path) => Ok(path.clone()),
            _ => {
                let message = format!("`{}` takes a class: `{ty}` is not a class", name.text);
                self.refuse("uc-generic", (file, of[0].span), message)
            }
        };
        let key = |ty: Type| {
            if ty.inner().next().is_none() && !matches!(ty, Type::Delegate(..)) {
                return Ok(Box::new(ty));
            }
            let message = format!("`{ty}` cannot be a key: use a number, a string, a name or a reference");
            self.refuse("uc-key", (file, of[0].span), message)
        };
        let mut inner = inner.into_iter();
        let one = inner.next().ok_or(super::Reported)?;
        Ok(match (word.as_str(), inner.next()) {
            ("map", Some(value)) => Type::Map(key(one)?, Box::new(value)),
            ("array", _) => Type::Array(Box::new(one)),
            ("set", _) => Type::Set(key(one)?),
            ("optional", _) => Type::Optional(Box::new(one)),
            _ => match reference {
                Some(kind) => Type::Reference(*kind, class_of(&one)?),
                None => Type::Class(class_of(&one)?),
            },
        })
    }

    fn delegate_type(&self, names: &[Ident], file: usize, class: &str) -> Found<Type> {
        let last = &names[names.len() - 1];
        let owner = if names.len() > 1 { self.class_named(&names[..names.len() - 1], file)? } else { class.into() };
        if let Some(found) = self.find_delegate(&owner, &last.text) {
            return found.prop.ty.clone().ok_or(super::Reported);
        }
        // The name may denote a delegate of a different class in the package, or a named delegate in reflection.
        let own = self.own_delegate(&last.text);
        if let Some(found) = own {
            return found.ok_or(super::Reported);
        }
        let reflected = self.types.delegates();
        let mut kept = reflected.iter().filter(|found| !self.is_replaced(found.origin, &found.package));
        if let Some(found) = kept.find(|found| found.name.eq_ignore_ascii_case(&last.text)) {
            let parsed: Result<alcedo_reflect::type_text::SignatureText, _> = found.signature().parse();
            let signature = Rc::new(parsed.unwrap_or_default());
            return Ok(Type::Delegate(found.kind, Some(found.path.clone()), signature));
        }
        if self.is_broken(&owner) {
            return Err(super::Reported);
        }
        Err(self.unknown_type("delegate", names, file))
    }

    /// Returns the type of a delegate that a class of the package declares. The inner `None` means that the delegate's declaration has an
    /// error.
    fn own_delegate(&self, name: &str) -> Option<Option<Type>> {
        let classes = self.classes.borrow();
        let found = classes.values().flatten().filter_map(|class| class.delegates.get(name));
        found.min_by(|one, other| one.func.path.cmp(&other.func.path)).map(|found| found.prop.ty.clone())
    }

    /// Evaluates the array length in the brackets after a name.
    pub(super) fn dim_of(&self, dim: &Expr, file: usize, class: &str) -> Found<u32> {
        let at = (file, dim.span);
        // If the length is the name of an enum, the length is the number of the enum's entries.
        if let crate::ast::ExprKind::Ident(name) = &dim.kind
            && let Some(Ok(Type::Enum(path, _))) = self.type_named(std::slice::from_ref(name), file)
            && let Some(found) = self.enumeration(&path)
        {
            return Ok(found.entries.len() as u32);
        }
        let value = self.constant(dim, file, class, Some(&Type::INT))?;
        match value.kind {
            ExprKind::Const(Const::Int(len)) if (1..=i128::from(MAX_FIXED_LEN)).contains(&len) => Ok(len as u32),
            ExprKind::Const(Const::Int(len)) => {
                self.refuse("uc-array-length", at, format!("an array has 1 to {MAX_FIXED_LEN} elements, not {len}"))
            }
            _ => self.refuse("uc-array-length", at, "the number of elements is not an integer"),
        }
    }

    /// Returns the type with the array length in the brackets after the name.
    pub(super) fn with_dim(&self, ty: Type, dim: Option<&Expr>, file: usize, class: &str) -> Found<Type> {
        match dim {
            Some(dim) => Ok(Type::Fixed(Box::new(ty), self.dim_of(dim, file, class)?)),
            None => Ok(ty),
        }
    }

    /// Returns the number of values in a variable of the type. Counts each element of a fixed array and each field of a struct. Counts a
    /// struct without fields as one value.
    pub(super) fn values_in(&self, ty: &Type) -> u64 {
        match ty {
            Type::Fixed(of, len) => self.values_in(of).saturating_mul(u64::from(*len)),
            Type::Struct(path) => self.structure(path).map_or(1, |found| found.values.max(1)),
            _ => 1,
        }
    }

    /// Adds the number of values in a variable to the total of its class, struct or function. Reports the first variable that exceeds the
    /// limit.
    pub(super) fn add_values(&self, so_far: &mut u64, ty: &Type, of: &str, at: At) -> Found<()> {
        let before = *so_far;
        *so_far = before.saturating_add(self.values_in(ty));
        if *so_far <= MAX_VALUES || before > MAX_VALUES {
            return Ok(());
        }
        let message = format!(
            "with this variable, the variables of `{of}` have {so_far} values, more than the maximum of {MAX_VALUES}"
        );
        let error = Diagnostic::error("uc-array-length", at, message);
        Err(self.report(error.hint("use `array<…>`, which grows on demand")))
    }

    /// Returns the path that a type of the package with this name has.
    pub(super) fn own_path(&self, name: &str) -> Path {
        format!("/Script/{}.{name}", self.package).into()
    }
}

fn depth_of(ty: &Type) -> usize {
    1 + ty.inner().map(depth_of).max().unwrap_or_default()
}
