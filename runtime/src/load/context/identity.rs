//! Identity of types, and owners of addresses. Each type belongs to its module and to the context of that module. If two contexts load one
//! file, the types of the file exist twice, with equal names.

use std::fmt;
use std::path::Path;

use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context::native_libs::RetainedNative;

/// Type in one generation of one context. Two equal values denote the same type.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// reports.load_path("/srv/plugins/libreports.so")?;
/// let before = reports.resolve_type("Report")?;
/// reports.replace("/srv/plugins/libreports.so")?;
/// // The new build declares a type of its own.
/// if let Err(error) = reports.resolve_type("Report")?.expect(&before) {
///     println!("{error}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeRef {
    /// Path of the type: `/Script/Package.Type`, or `Type` if the type is neither a class nor a struct.
    pub path: String,
    /// Module that declares the type.
    pub module: ModuleSummary,
    /// Name of the context that contains the module.
    pub context: String,
}

impl TypeRef {
    /// Checks that this type is `expected`.
    ///
    /// # Errors
    /// Returns an error if the types differ, even if their names are equal.
    pub fn expect(&self, expected: &Self) -> Result<(), CastError> {
        match self == expected {
            true => Ok(()),
            false => Err(CastError { found: Box::new(self.clone()), expected: Box::new(expected.clone()) }),
        }
    }
}

impl fmt::Display for TypeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} in {} {}", self.path, self.module, self.context, self.module.context)
    }
}

/// Error for a cast between two different types.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{CastError, TypeRef};
///
/// fn check(found: &TypeRef, expected: &TypeRef) -> Result<(), CastError> {
///     found.expect(expected).inspect_err(|error| eprintln!("{} is not {}", error.found, error.expected))
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{found} is not {expected}{}", help(found, expected))]
pub struct CastError {
    /// Type of the value.
    pub found: Box<TypeRef>,
    /// Expected type.
    pub expected: Box<TypeRef>,
}

fn help(found: &TypeRef, expected: &TypeRef) -> &'static str {
    match found.path == expected.path {
        true => ": the names are the same, the types are not; to share one, load its module into the Default",
        false => "",
    }
}

/// Returns the context that owns the file `image`. The file is the image of a module, or a native library.
pub(super) fn owner_of<'a>(
    image: &Path,
    contexts: &'a [ContextInfo],
    natives: &[RetainedNative],
) -> Option<&'a ContextInfo> {
    let has = |context: &&ContextInfo| context.modules.iter().any(|module| module.image == image);
    let native = || natives.iter().find(|native| native.path == image).map(|native| native.context);
    let by_module = contexts.iter().find(has);
    by_module.or_else(|| native().and_then(|id| contexts.iter().find(|context| context.id == id)))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{TypeRef, owner_of};
    use crate::load::context::info::{ContextInfo, ModuleSummary};
    use crate::load::context_id::{ContextId, ContextKind, title};
    use crate::unload::state::ContextState;

    /// Creates a Slim with modules listed as `name: types`.
    fn context(index: u64, modules: &[(&str, &[&str])]) -> ContextInfo {
        let id = ContextId { index, generation: 1 };
        let module = |(name, types): &(&str, &[&str])| ModuleSummary {
            name: (*name).to_owned(),
            version: semver::Version::new(1, 0, 0),
            build_id: 0xb,
            context: id,
            origin: None,
            image: PathBuf::from(format!("/stage/{name}.{index}.so")),
            types: types.iter().map(|ty| (*ty).to_owned()).collect(),
        };
        let (kind, state) = (ContextKind::Slim, ContextState::Alive);
        ContextInfo { id, kind, name: format!("s{index}"), state, modules: modules.iter().map(module).collect() }
    }

    #[test]
    fn equal_type_names_in_two_contexts_differ_and_errors_name_both() {
        let [one, other] = [2, 3].map(|index| {
            let ContextInfo { kind, name, modules, .. } = context(index, &[("a", &["Sum"])]);
            TypeRef { path: "Sum".into(), module: modules[0].clone(), context: title(kind, &name) }
        });
        assert_eq!(one.expect(&one), Ok(()));
        assert_eq!(
            one.expect(&other).expect_err("they differ").to_string(),
            "Sum of a 1.0.0 (build 0000000000000000000000000000000b) in Slim \"s2\" #2 generation 1 is not \
             Sum of a 1.0.0 (build 0000000000000000000000000000000b) in Slim \"s3\" #3 generation 1: \
             the names are the same, the types are not; to share one, load its module into the Default"
        );
    }

    #[test]
    fn an_image_belongs_to_the_context_that_mapped_it() {
        let contexts = [context(2, &[("a", &[])]), context(3, &[("a", &[])])];
        let owner = owner_of(Path::new("/stage/a.3.so"), &contexts, &[]).map(|context| context.id.index);
        assert_eq!(owner, Some(3));
        assert!(owner_of(Path::new("/usr/lib/libc.so.6"), &contexts, &[]).is_none());
    }
}
