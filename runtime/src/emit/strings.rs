//! Checks the strings in the descriptions of a mapped module: member names, paths, defaults and signatures. Paths and ZCall names contain
//! these strings, and errors and logs print these strings. Each string is therefore checked before its first use. Every load runs this
//! check: loads of the Master, of a Slim and of the Default, reloads, and loads in a canary.

use std::collections::HashSet;

use alcedo_abi::describe::{ClassDesc, ExportDesc, FunctionDesc, ImportDesc, InterfaceDesc, MetaDesc, PropertyDesc};
use alcedo_abi::names::{TYPE_PATH_RULE, is_identifier, is_type_path, shows_itself};

use crate::bridge::exports::export_name;
use crate::bridge::nm::{Method, NM};
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::escape::line;
use crate::object::path::MemberPath;
use crate::zcall::explicit::Ex;
use crate::zcall::name::ZCallName;

/// Maximum size in bytes of a type specifier, a signature, and the name of a call.
const LONGEST_WORDS: usize = 4096;
/// Maximum size of a default in bytes.
const LONGEST_DEFAULT: usize = 1 << 16;

/// Grammar rule of a string, and the help for the plugin author. Only rules that the plugin API enforces have [`REBUILD`] as help.
type Rule = (&'static str, &'static str);

const REBUILD: &str = "build it with this host's alcedo-plugin-api";
const SHORTEN: &str = "shorten it in the sources of the module";
const IDENTIFIER: Rule = (
    "a name is at most 255 bytes of letters, digits and `_`, and does not start with a digit",
    "rename it, or build the module with this host's alcedo-plugin-api",
);
const WORDS: Rule = (
    "types and signatures are at most 4096 bytes, without control characters",
    "use a shorter type or fewer parameters",
);
const DEFAULT: Rule = ("a default is at most 65536 bytes", SHORTEN);
const META: Rule = ("metadata of a member is at most 65536 bytes", SHORTEN);
const TYPE_PATH: Rule = (TYPE_PATH_RULE, REBUILD);
const MEMBER_PATH: Rule =
    ("a type or a member has a path `/Script/<Package>.<Type>` or `/Script/<Package>.<Type>:<Member>`", REBUILD);
const CALL_NAME: Rule = (
    "a function is called by a name without spaces or control characters, at most 4096 bytes",
    "rename the function or its type",
);

/// Checks that every string in the module's descriptions follows its grammar.
///
/// # Errors
/// Returns [`EmitError::Text`] for the first string that violates its grammar.
pub(crate) fn check(module: &str, described: Described) -> Result<(), EmitError> {
    let check = Check { module };
    let Described { interfaces, enums, delegates, structs, classes, imports, exports, tables, earlier_names } =
        described;
    for described in interfaces {
        check.interface(described)?;
    }
    for described in enums {
        let name = described.name.as_str();
        check.type_name(described.package.as_str(), name, "an enum")?;
        for entry in described.entries.iter() {
            check.text(|| format!("an entry of {name} named"), entry.name.as_str(), is_identifier, IDENTIFIER)?;
            let display = entry.display.as_str();
            check.text(|| format!("an entry of {name} shown as"), display, |it| it.len() <= LONGEST_DEFAULT, META)?;
        }
    }
    for described in delegates {
        let (class, name) = (described.class.as_str(), described.name.as_str());
        match class {
            "" => check.type_name(described.package.as_str(), name, "a delegate")?,
            _ => {
                check.text(|| format!("the delegate {name} in"), class, is_type_path, TYPE_PATH)?;
                check.text(|| format!("a delegate of {class} named"), name, is_identifier, IDENTIFIER)?;
            }
        }
        check.properties(name, &described.params)?;
    }
    for described in structs {
        check.type_name(described.package.as_str(), described.name.as_str(), "a struct")?;
        check.properties(described.name.as_str(), &described.fields)?;
    }
    classes.iter().try_for_each(|described| check.class(described))?;
    imports.iter().try_for_each(|import| check.import(import))?;
    for table in [tables.host, tables.module].iter().filter_map(|table| table.into_option()) {
        let name = table.name.as_str();
        check.text(|| "a table named".into(), name, is_identifier, IDENTIFIER)?;
        for entry in table.entries.iter() {
            check.text(|| format!("an entry of {name} named"), entry.name.as_str(), is_identifier, IDENTIFIER)?;
            let signature = entry.signature.as_str();
            check.text(|| format!("{name}.{} with the signature", entry.name), signature, are_words, WORDS)?;
        }
    }
    for renamed in earlier_names {
        let (path, names) = (renamed.key.as_str(), renamed.value.as_str());
        check.text(|| "earlier names of".into(), path, is_path, MEMBER_PATH)?;
        for name in names.split(',') {
            check.text(|| format!("{path} with the earlier name"), name.trim(), is_identifier, IDENTIFIER)?;
        }
    }
    let mut offered = HashSet::new();
    exports.iter().try_for_each(|export| {
        let name = check.export(export)?;
        if offered.insert(name.clone()) {
            return Ok(());
        }
        Err(EmitError::Clash { path: line(&name), first: module.to_owned(), second: module.to_owned() })
    })
}

struct Check<'a> {
    module: &'a str,
}

impl Check<'_> {
    fn text(
        &self,
        what: impl Fn() -> String,
        text: &str,
        keeps_to: impl FnOnce(&str) -> bool,
        (rule, help): Rule,
    ) -> Result<(), EmitError> {
        if keeps_to(text) {
            return Ok(());
        }
        let module = self.module.to_owned();
        Err(EmitError::Text { module, what: what(), found: line(text), rule, help })
    }

    fn type_name(&self, package: &str, name: &str, what: &str) -> Result<(), EmitError> {
        self.text(|| format!("{what} in a package named"), package, is_identifier, IDENTIFIER)?;
        self.text(|| format!("{what} of {package} named"), name, is_identifier, IDENTIFIER)
    }

    fn interface(&self, described: &InterfaceDesc) -> Result<(), EmitError> {
        let (package, name) = (described.package.as_str(), described.name.as_str());
        self.type_name(package, name, "an interface")?;
        described.functions.iter().try_for_each(|function| {
            let (owner, name) = (format!("{package}.{name}"), function.name.as_str());
            self.text(|| format!("a function of {owner} named"), name, is_identifier, IDENTIFIER)?;
            self.properties(&format!("{owner}:{name}"), &function.params)
        })
    }

    fn class(&self, described: &ClassDesc) -> Result<(), EmitError> {
        let (package, name) = (described.package.as_str(), described.name.as_str());
        self.type_name(package, name, "a class")?;
        let owner = format!("{package}.{name}");
        self.text(|| format!("that {owner} extends"), described.base.as_str(), is_type_path_or_none, TYPE_PATH)?;
        for interface in described.implements.iter() {
            self.text(|| format!("that {owner} implements"), interface.as_str(), is_type_path, TYPE_PATH)?;
        }
        self.properties(&owner, &described.properties)?;
        described.functions.iter().try_for_each(|function| self.function(&owner, function))
    }

    fn function(&self, owner: &str, described: &FunctionDesc) -> Result<(), EmitError> {
        let name = described.name.as_str();
        self.text(|| format!("a function of {owner} named"), name, is_identifier, IDENTIFIER)?;
        let owner = format!("{owner}:{name}");
        let overrides = described.overrides.as_str();
        self.text(|| format!("that {owner} overrides"), overrides, is_type_path_or_none, TYPE_PATH)?;
        self.meta(&owner, &described.meta)?;
        self.properties(&owner, &described.params)
    }

    fn meta(&self, owner: &str, described: &[MetaDesc]) -> Result<(), EmitError> {
        described.iter().try_for_each(|entry| {
            let (key, value) = (entry.key.as_str(), entry.value.as_str());
            self.text(|| format!("metadata of {owner} under the key"), key, is_identifier, IDENTIFIER)?;
            self.text(|| format!("{owner} with {key}"), value, |it| it.len() <= LONGEST_DEFAULT, META)
        })
    }

    fn properties(&self, owner: &str, described: &[PropertyDesc]) -> Result<(), EmitError> {
        for property in described {
            let name = property.name.as_str();
            self.text(|| format!("a member of {owner} named"), name, is_identifier, IDENTIFIER)?;
            self.text(|| format!("{owner}.{name} of type"), property.type_path.as_str(), are_words, WORDS)?;
            let default = property.default.as_str();
            self.text(|| format!("{owner}.{name} with default"), default, |it| it.len() <= LONGEST_DEFAULT, DEFAULT)?;
            self.meta(&format!("{owner}.{name}"), &property.meta)?;
        }
        Ok(())
    }

    fn import(&self, import: &ImportDesc) -> Result<(), EmitError> {
        let path = import.path.as_str();
        self.text(|| "that it uses".into(), path, is_path, MEMBER_PATH)?;
        self.text(|| format!("the expected declaration of {path},"), import.expected.as_str(), are_words, WORDS)?;
        self.properties(path, &import.fields)
    }

    /// Returns the ZCall name of an export. Parsing the name must return the type path and the method from which the name was built. A part
    /// that contains a separator fails this check.
    fn export(&self, export: &ExportDesc) -> Result<String, EmitError> {
        let (type_path, method) = (export.type_path.as_str(), export.name.as_str());
        let expected = Method { module: self.module, type_path, method };
        let name = export_name(self.module, type_path, method);
        let reads_back = |name: &str| match type_path {
            _ if name.len() > LONGEST_WORDS => false,
            "" => ZCallName::read(name, &Ex).is_ok_and(|name| name.rest() == method),
            _ => ZCallName::read(name, &NM).is_ok_and(|name| Method::of(&name) == Some(expected)),
        };
        self.text(|| "a function called".into(), &name, reads_back, CALL_NAME)?;
        self.text(|| format!("{name} with the signature"), export.signature.as_str(), are_words, WORDS)?;
        Ok(name)
    }
}

fn is_path(path: &str) -> bool {
    is_type_path(path) || path.parse::<MemberPath>().is_ok()
}

fn is_type_path_or_none(text: &str) -> bool {
    text.is_empty() || is_type_path(text)
}

fn are_words(text: &str) -> bool {
    text.len() <= LONGEST_WORDS && text.chars().all(shows_itself)
}

#[cfg(test)]
mod tests {
    use super::{are_words, is_type_path_or_none};

    #[test]
    fn specifiers_are_printable_and_limited_in_length() {
        assert!(are_words("Map(String, f64) -> bool") && are_words(""));
        assert!(!are_words("u8\n") && !are_words("\u{1b}[2J") && !are_words(&"a".repeat(5000)));
        assert!(is_type_path_or_none("") && is_type_path_or_none("/Script/A.B") && !is_type_path_or_none("A.B"));
    }
}
