//! Provides a folder for the C libraries that the tests compile, and parses types from their specifiers.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use alcedo_dll_bind::{Import, Imported, UserCode};
use alcedo_reflect::World;
use alcedo_reflect::decl::{Batch, PropertyDecl, StructDecl};
use alcedo_reflect::origin::Origin;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use tempfile::TempDir;

/// First lines of every C source.
pub(crate) const PRELUDE: &str = "
#include <stdint.h>
#include <stddef.h>
#include <string.h>
typedef uint16_t unit;
typedef struct { unit* data; int32_t num; int32_t max; } __attribute__((packed, aligned(4))) text;
#pragma pack(4)
";

/// Compiles a C library into `folder`.
pub(crate) fn compile(folder: &Path, name: &str, source: &str) {
    let file = folder.join(format!("{name}.c"));
    fs::write(&file, format!("{PRELUDE}{source}")).expect("written");
    compile_file(folder, name, &file, false, &[]);
}

/// Compiles a C++ library into `folder`, with additional arguments for the compiler.
pub(crate) fn compile_cpp(folder: &Path, name: &str, source: &str, arguments: &[&str]) {
    let file = folder.join(format!("{name}.cpp"));
    fs::write(&file, source).expect("written");
    compile_file(folder, name, &file, true, arguments);
}

fn compile_file(folder: &Path, name: &str, file: &Path, is_cpp: bool, arguments: &[&str]) {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    let build = build.host(&host).target(&host).opt_level(1).cargo_metadata(false).cpp(is_cpp);
    let output = folder.join(format!("lib{name}.so.new"));
    let mut command = build.get_compiler().to_command();
    let command = command.args(["-shared", "-fPIC", "-g", "-w", "-o"]).arg(&output).args(arguments).arg(file);
    let ran = command.output().expect("a compiler");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    fs::rename(output, folder.join(format!("lib{name}.so"))).expect("moved");
}

/// A folder with the library `Test`.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) code: UserCode,
}

impl Fixture {
    pub(crate) fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        compile(folder.path(), "Test", source);
        // SAFETY: the C sources in these tests match their declarations, or violate them only in ways that the tests check.
        let code = unsafe { UserCode::at(folder.path()) };
        Self { folder, code }
    }

    /// Binds a function with trampolines and with `libffi`.
    pub(crate) fn bind(&self, import: &Import) -> [Imported; 2] {
        [&self.code, &self.code.by_libffi()]
            .map(|code| import.clone().bind(&code.open("Test")).expect("it can be bound"))
    }

    /// Calls a function with trampolines, with `libffi` and with fences, and checks that the results are equal.
    pub(crate) fn call(&self, import: &Import, arguments: &[Value]) -> (Option<Value>, Vec<Value>) {
        let [one, two] = self.bind(import).map(|function| function.call(arguments).expect("a call"));
        let fenced = import.clone().bind(&self.code.with_fences().open("Test")).expect("it can be bound");
        let three = fenced.call(arguments).expect("a call");
        assert_eq!((&one, &one), (&two, &three), "{import:?}");
        (one.result, one.out_parameters)
    }

    /// Returns the error of a call, and checks that calls by trampolines and by `libffi` return the same error.
    pub(crate) fn broken(&self, import: &Import, arguments: &[Value]) -> String {
        let [one, two] =
            self.bind(import).map(|function| function.call(arguments).expect_err("a broken rule").to_string());
        let without = |text: &str| text.split("0x").next().unwrap_or_default().to_owned();
        assert_eq!(without(&one), without(&two));
        one
    }
}

/// Parses a type specifier. The specifier may name a struct of `structs` as `/Script/Test.Name`. A struct may name earlier structs.
pub(crate) fn ty(structs: &[(&str, &[(&str, &str)])], type_name: &str) -> PropertyType {
    let world = World::new();
    world.types.declare_package("Test");
    for (name, fields) in structs {
        let field = |(name, type_name): &(&str, &str)| {
            let ty =
                PropertyType::parse(type_name, &world.types).unwrap_or_else(|error| panic!("{type_name}: {error}"));
            PropertyDecl::new(name, ty.kind()).of_type(ty.type_path())
        };
        let fields = fields.iter().map(field).collect();
        let structs = vec![StructDecl { fields, ..StructDecl::new("Test", name, Origin::Native) }];
        world.types.declare(&world.names, &Batch { structs, ..Batch::default() }).expect("a right declaration");
    }
    PropertyType::parse(type_name, &world.types).unwrap_or_else(|error| panic!("{type_name}: {error}"))
}

/// Returns the type of a specifier that names no structs.
pub(crate) fn plain(type_name: &str) -> PropertyType {
    ty(&[], type_name)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn structure<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Struct(fields.into_iter().map(|(name, value)| (Arc::from(name), value)).collect())
}

pub(crate) fn ints(values: &[i32]) -> Value {
    Value::Array(values.iter().map(|value| Value::I32(*value)).collect())
}
