//! Converts types in signature syntax to Rust types.

use std::collections::BTreeMap;

use alcedo_reflect::type_text::TypeText;
use alcedo_runtime::kinds::PropertyKind;

use crate::error::GlueError;
use crate::text::{identifier, is_name, own_name, parts};

/// Rust names of the types in the generated source, in the plugin API, and in glue of other packages.
pub(crate) struct Names<'a> {
    /// Paths of the types that the generated source contains, by name.
    pub(crate) own: BTreeMap<&'a str, &'a str>,
    /// Rust paths of the glue of other packages, by package name.
    pub(crate) elsewhere: &'a BTreeMap<String, String>,
}

impl Names<'_> {
    /// Returns the Rust type for the type `text` in signature syntax. `member` has this type, and is named in errors.
    pub(crate) fn of(&self, member: &str, text: &str) -> Result<String, GlueError> {
        let unknown = || GlueError::Unknown { member: member.to_owned(), text: text.to_owned() };
        self.rust(member, &text.parse().map_err(|_| unknown())?)?.ok_or_else(unknown)
    }

    /// Returns the Rust type. Returns `None` if the type has no Rust type.
    fn rust(&self, member: &str, ty: &TypeText) -> Result<Option<String>, GlueError> {
        let all = |types: &[TypeText]| {
            let types = types.iter().map(|ty| self.rust(member, ty)).collect::<Result<Option<Vec<_>>, _>>();
            types.map(|types| types.map(|types| types.join(", ")))
        };
        let name = ty.kind().plugin_type().unwrap_or_default();
        Ok(match ty {
            TypeText::Plain(kind) => kind.plugin_type().map(str::to_owned),
            TypeText::Struct(path)
            | TypeText::Reference(PropertyKind::ENUM, path)
            | TypeText::Delegate(_, Some(path), _) => Some(self.path(member, path)?),
            TypeText::Reference(_, path) => Some(format!("{name}<{}>", self.path(member, path)?)),
            TypeText::Container(_, of) => all(of)?.map(|of| format!("{name}<{of}>")),
            TypeText::Delegate(_, None, signature) => {
                let params = all(&signature.arguments)?;
                let result = signature.result.as_deref().map(|result| self.rust(member, result)).transpose()?;
                match (params, result) {
                    (Some(params), None) => Some(format!("{name}<fn({params})>")),
                    (Some(params), Some(Some(result))) => Some(format!("{name}<fn({params}) -> {result}>")),
                    _ => None,
                }
            }
        })
    }

    /// Returns the Rust path of a type of the plugin API. Returns a full path if the generated source contains a type of this name, which
    /// shadows the type of the prelude.
    pub(crate) fn of_plugin_api(&self, name: &str) -> String {
        let prefix = if self.own.contains_key(name) { "alcedo_plugin_api::" } else { "" };
        format!("{prefix}{name}")
    }

    pub(crate) fn path(&self, member: &str, path: &str) -> Result<String, GlueError> {
        let ((package, _), name) = (parts(path), own_name(path));
        if self.own.get(name) == Some(&path) {
            return Ok(identifier(name));
        }
        if path == "/Script/Core.Object" {
            return Ok(self.of_plugin_api(name));
        }
        match self.elsewhere.get(package) {
            Some(_) if !is_name(name) => Err(GlueError::Name { owner: member.to_owned(), name: name.to_owned() }),
            Some(module) => Ok(format!("{module}::{}", identifier(name))),
            None => Err(GlueError::Elsewhere {
                member: member.to_owned(),
                path: path.to_owned(),
                package: package.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Names;

    #[test]
    fn each_type_has_a_rust_type_or_a_reason() {
        let elsewhere = BTreeMap::from([("Engine".to_owned(), "engine_glue".to_owned())]);
        let own = [("Cube", "/Script/Game.Cube"), ("OnHit", "/Script/Game.Cube:OnHit")];
        let names = Names { own: BTreeMap::from(own), elsewhere: &elsewhere };
        for (text, expected) in [
            ("f64", "f64"),
            ("AnsiString", "UAnsiString"),
            ("/Script/Engine.Vector", "engine_glue::Vector"),
            ("Object(/Script/Game.Cube)", "Obj<Cube>"),
            ("Object(/Script/Core.Object)", "Obj<Object>"),
            ("SoftClass(/Script/Game.Cube)", "SoftClass<Cube>"),
            (
                "Map(Name, Array(Optional(/Script/Engine.Vector)))",
                "UMap<UName, UArray<UOptional<engine_glue::Vector>>>",
            ),
            ("Delegate()", "Delegate<fn()>"),
            ("SparseDelegate(/Script/Game.Cube:OnHit(f64))", "OnHit"),
            ("Delegate(/Script/Engine.Vector, u8)", "Delegate<fn(engine_glue::Vector, u8)>"),
            ("Delegate(/Script/Engine.OnTick(f32 -> Array(u8)))", "engine_glue::OnTick"),
            ("Delegate(f64, Map(u8, Name) -> bool)", "Delegate<fn(f64, UMap<u8, UName>) -> bool>"),
            ("SparseDelegate(Name, Delegate(u8 -> u8))", "SparseDelegate<fn(UName, Delegate<fn(u8) -> u8>)>"),
        ] {
            assert_eq!(names.of("x", text).unwrap_or_else(|error| panic!("{error}")), expected, "{text}");
        }
        let error = |text: &str| names.of("Game.Cube.x", text).expect_err("it has none").to_string();
        assert!(error("/Script/Other.Thing").contains("--package Other="), "{}", error("/Script/Other.Thing"));
        let deep = "Array(".repeat(99) + "u8" + &")".repeat(99);
        for text in ["kind 77", "Map(u8)", "Array(", "", "Queue(u8)", &deep] {
            assert!(error(text).contains("`Game.Cube.x` is of the type"), "{text}");
        }
    }
}
