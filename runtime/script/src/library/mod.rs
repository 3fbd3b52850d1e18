//! Library of host functions that scripts can call: mathematics, strings, names, and operations on any array, set, map or struct. All are
//! static functions of native classes in the package `Script`.

mod arrays;
mod build;
mod keyed;
mod math;
mod objects;
mod strings;
mod structs;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::decl::{Batch, ClassDecl, PropertyDecl, StructDecl};
use alcedo_reflect::origin::Origin;

/// Package of the library classes. A host that declares the [`batch`] must also declare this package.
pub const PACKAGE: &str = "Script";

/// Paths of the library classes, for [`Options::libraries`](alcedo_uc) of the checker. With these paths, scripts can call the functions
/// without the class name.
pub const PATHS: [&str; 7] = [
    "/Script/Script.MathLibrary",
    "/Script/Script.TextLibrary",
    "/Script/Script.ArrayLibrary",
    "/Script/Script.SetLibrary",
    "/Script/Script.MapLibrary",
    "/Script/Script.StructLibrary",
    "/Script/Script.ObjectLibrary",
];

/// Returns the declarations of all library classes. `base` is the path of the root class of the host, which must already exist.
pub fn batch(base: &str) -> Batch {
    let functions = [
        math::functions(),
        strings::functions(),
        arrays::functions(),
        keyed::set_functions(),
        keyed::map_functions(),
        structs::functions(),
        objects::functions(base),
    ];
    let class = |(path, functions): (&str, _)| {
        let name = path.rsplit('.').next().unwrap_or(path);
        ClassDecl { functions, ..ClassDecl::new(PACKAGE, name, base, Origin::Native) }
    };
    // Placeholder in signatures for a struct of any type. The placeholder has a field, because C has no empty structs.
    let any = StructDecl {
        fields: vec![PropertyDecl::new("unused", PropertyKind::U8)],
        doc: "Placeholder for any struct in the signature of a function.".to_owned(),
        ..StructDecl::new(PACKAGE, "AnyStruct", Origin::Native)
    };
    Batch { structs: vec![any], classes: PATHS.into_iter().zip(functions).map(class).collect(), ..Batch::default() }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::function_flags;

    use super::batch;

    #[test]
    fn only_functions_without_effects_are_pure() {
        let functions: Vec<_> =
            batch("/Script/Core.Object").classes.into_iter().flat_map(|class| class.functions).collect();
        for (name, expected) in [
            ("abs", true),
            ("rand", true),
            ("array_length", true),
            ("map_contains", true),
            ("array_add", false),
            ("array_shuffle", false),
            ("map_find", false),
            ("map_keys", false),
            ("show_struct_fields", false),
        ] {
            let function = functions.iter().find(|function| function.name == name).expect("a function of the library");
            assert_eq!(function.flags & function_flags::PURE != 0, expected, "{name}");
        }
    }
}
