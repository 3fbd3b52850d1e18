//! Functions of the host for scripts: mathematics, texts, names, and what works on any array, set, map or struct. They are
//! static functions of native classes in the package `Script`.

mod arrays;
mod build;
mod keyed;
mod math;
mod objects;
mod structs;
mod texts;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::decl::{Batch, ClassDecl, PropertyDecl, StructDecl};
use alcedo_reflect::origin::Origin;

/// The package that the classes are in. It is declared by whoever declares the batch.
pub const PACKAGE: &str = "Script";

/// The paths of the classes: what a checker takes for [`Options::libraries`](alcedo_uc) so that their functions are called without
/// the name of the class.
pub const PATHS: [&str; 7] = [
    "/Script/Script.MathLibrary",
    "/Script/Script.TextLibrary",
    "/Script/Script.ArrayLibrary",
    "/Script/Script.SetLibrary",
    "/Script/Script.MapLibrary",
    "/Script/Script.StructLibrary",
    "/Script/Script.ObjectLibrary",
];

/// The declarations of all of them, on a base class that has to be there: the root of the host's classes.
pub fn batch(base: &str) -> Batch {
    let functions = [
        math::functions(),
        texts::functions(),
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
    // What stands for any struct in a signature. It has a field, since a struct of nothing is none in C.
    let any = StructDecl {
        fields: vec![PropertyDecl::new("unused", PropertyKind::U8)],
        doc: "Stands for any struct in the signature of a function.".to_owned(),
        ..StructDecl::new(PACKAGE, "AnyStruct", Origin::Native)
    };
    Batch { structs: vec![any], classes: PATHS.into_iter().zip(functions).map(class).collect(), ..Batch::default() }
}
