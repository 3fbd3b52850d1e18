//! Function tables that modules exchange with their host. Compares the module's definition of a table with the host's definition.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::describe::{EntryTables, TableDesc};
use alcedo_abi::fingerprint::table_fingerprint;

use crate::escape::line;
use crate::signature::Signature;

/// Error in the exchange of function tables between a module and its host.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::tables::TableError;
///
/// fn advice(error: &TableError) -> &'static str {
///     match error {
///         TableError::NotOffered { .. } => "offer the table before the plugin is loaded",
///         _ => "build the plugin with the declaration of this host",
///     }
/// }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Module and host define this table with different entries.
    #[error(
        "{module} was built with another definition of the table {table} than this host: {difference}; the module has {found}, the \
         host has {expected}: build both with one `entry_table!`"
    )]
    Differs {
        /// Name of the module.
        module: String,
        /// Name of the table.
        table: String,
        /// Differing entries, each with a description of the difference.
        difference: String,
        /// Entries of the module's table with their signatures, and the fingerprint of the table.
        found: String,
        /// Entries of the host's table with their signatures, and the fingerprint of the table.
        expected: String,
    },
    /// The module requires a table that the host does not offer.
    #[error(
        "{module} requires the table {table} of its host, {found}, and this host offers {offered}: call `Tables::offer` before the module \
         is loaded"
    )]
    NotOffered {
        /// Name of the module.
        module: String,
        /// Name of the table.
        table: String,
        /// Entries of the module's table with their signatures, and the fingerprint of the table.
        found: String,
        /// Tables that the host offers.
        offered: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub name: String,
    fingerprint: u64,
    /// Signatures of the entries, by name.
    entries: BTreeMap<String, String>,
}

impl Table {
    pub(crate) fn new(name: &str, entries: &[(&'static str, Signature)]) -> Self {
        let prints: Vec<_> = entries.iter().map(|(name, signature)| (*name, signature.fingerprint())).collect();
        let entries = entries.iter().map(|(name, signature)| ((*name).to_owned(), signature.to_string())).collect();
        Self { name: name.to_owned(), fingerprint: table_fingerprint(&prints), entries }
    }

    fn described(table: &TableDesc) -> Self {
        let entry =
            |entry: &alcedo_abi::describe::EntryDesc| (line(entry.name.as_str()), line(entry.signature.as_str()));
        let entries = table.entries.iter().map(entry).collect();
        Self { name: line(table.name.as_str()), fingerprint: table.fingerprint, entries }
    }

    /// Compares the table of `module` with the table of the host. Returns [`TableError::Differs`] if the tables differ.
    fn agree(&self, module: &str, host: &Self) -> Result<(), TableError> {
        if self.fingerprint == host.fingerprint {
            return Ok(());
        }
        Err(TableError::Differs {
            module: module.to_owned(),
            table: self.name.clone(),
            difference: difference(&self.entries, &host.entries),
            found: self.to_string(),
            expected: host.to_string(),
        })
    }
}

/// Describes missing entries, and entries with different signatures.
fn difference(module: &BTreeMap<String, String>, host: &BTreeMap<String, String>) -> String {
    let of_module = module.iter().filter_map(|(name, signature)| match host.get(name) {
        None => Some(format!("`{name}` ({signature}) is missing at the host")),
        Some(other) if other == signature => None,
        Some(other) => Some(format!("`{name}` is ({signature}) in the module and ({other}) at the host")),
    });
    let of_host = host.iter().filter(|(name, _)| !module.contains_key(*name));
    let of_host = of_host.map(|(name, signature)| format!("`{name}` ({signature}) is missing in the module"));
    let all: Vec<_> = of_module.chain(of_host).collect();
    if all.is_empty() { "types of one name differ".to_owned() } else { all.join(", ") }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<_> = self.entries.iter().map(|(name, signature)| format!("{name}({signature})")).collect();
        write!(f, "{} [{:016x}]", entries.join(", "), self.fingerprint)
    }
}

/// Tables that a host offers to modules, and tables that the host expects in modules. Usable on any thread.
#[derive(Default)]
pub(crate) struct HostTables {
    offered: RwLock<BTreeMap<String, Table>>,
    expected: RwLock<BTreeMap<String, Table>>,
}

impl HostTables {
    /// Checks if the host offers no table with this name.
    pub(crate) fn is_free(&self, name: &str) -> bool {
        !self.offered.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// Offers a function table. Later modules may call the entries of the table.
    pub(crate) fn offer(&self, table: Table) {
        self.offered.write().unwrap_or_else(PoisonError::into_inner).insert(table.name.clone(), table);
    }

    /// Adds a function table that modules may implement. If a later module defines the table differently, the load of the module is
    /// rejected.
    pub(crate) fn expect(&self, table: Table) {
        self.expected.write().unwrap_or_else(PoisonError::into_inner).insert(table.name.clone(), table);
    }

    /// Compares the tables of a module with the tables of the host. Must be called before the main of the module. Returns
    /// [`TableError::Differs`] or [`TableError::NotOffered`].
    pub(crate) fn check(&self, module: &str, tables: EntryTables) -> Result<(), TableError> {
        if let Some(table) = tables.host.into_option().map(Table::described) {
            let offered = self.offered.read().unwrap_or_else(PoisonError::into_inner);
            let Some(host) = offered.get(&table.name) else {
                let names: Vec<_> = offered.keys().map(|name| &**name).collect();
                return Err(TableError::NotOffered {
                    module: module.to_owned(),
                    found: table.to_string(),
                    table: table.name,
                    offered: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
                });
            };
            table.agree(module, host)?;
        }
        if let Some(table) = tables.module.into_option().map(Table::described) {
            let expected = self.expected.read().unwrap_or_else(PoisonError::into_inner);
            expected.get(&table.name).map_or(Ok(()), |host| table.agree(module, host))?;
        }
        Ok(())
    }
}

/// Checks that a module implements the table `host`. Returns false if the module implements a different table or no table. Returns
/// [`TableError::Differs`] if the definitions of the table differ.
pub(crate) fn implements(module: &str, tables: EntryTables, host: &Table) -> Result<bool, TableError> {
    match tables.module.into_option().map(Table::described) {
        Some(table) if table.name == host.name => table.agree(module, host).map(|()| true),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, difference};

    fn table(entries: &[(&'static str, &str)]) -> Table {
        let entries: Vec<_> = entries.iter().map(|(name, text)| (*name, text.parse().expect("a signature"))).collect();
        Table::new("Engine", &entries)
    }

    #[test]
    fn a_difference_names_each_entry_that_differs_and_no_other() {
        let host = table(&[("add", "i32, i32 -> i32"), ("log", "u64"), ("now", "-> f64")]);
        let module = table(&[("now", "-> f64"), ("add", "i64, i64 -> i64"), ("mul", "f64 -> f64")]);
        assert_eq!(
            difference(&module.entries, &host.entries),
            "`add` is (i64, i64 -> i64) in the module and (i32, i32 -> i32) at the host, \
             `mul` (f64 -> f64) is missing at the host, `log` (u64) is missing in the module"
        );
        assert!(module.agree("m", &host).is_err());
        let turned = table(&[("now", "-> f64"), ("log", "u64"), ("add", "i32, i32 -> i32")]);
        assert!(turned.agree("m", &host).is_ok(), "entries are bound by name");
    }
}
