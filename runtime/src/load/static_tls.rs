//! Lists the modules and libraries that use static thread-local storage. At startup, a process reserves a small amount of this storage for
//! later libraries. Each mapped copy of such a library uses some of the storage, and the dynamic linker never frees the storage. A load may
//! therefore fail even if the loaded module needs little storage. The error of this load lists the users of the storage.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use alcedo_sys::{ImageFile, StaticTls, process};

use super::advice;
use super::park_reason::listed;
use crate::sync::lock;

/// Static thread-local storage that one file uses, with advice on how to avoid this use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    used: StaticTls,
    help: &'static str,
}

impl Part {
    /// Returns the static thread-local storage of a file. Returns `None` if the file uses only dynamic thread-local storage, or none.
    pub(crate) fn of(image: &ImageFile) -> Option<Box<Self>> {
        let help = || advice::on_static_tls(image.section(".strtab").unwrap_or_default());
        StaticTls::of(image.bytes()).map(|used| Box::new(Self { used, help: help() }))
    }

    fn describe_used(&self) -> String {
        let StaticTls { bytes, variables, .. } = &self.used;
        let names = listed(variables.iter().map(|name| format!("`{name}`")));
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        format!("{bytes} bytes{names}")
    }
}

/// Module or library that uses static thread-local storage.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Consumer {
    name: String,
    part: Part,
    copies: u64,
}

/// Static thread-local storage of modules, by module name. Each entry contains the storage of the last mapped copy, and the number of
/// mapped copies.
static MODULES: Mutex<BTreeMap<String, (Part, u64)>> = Mutex::new(BTreeMap::new());

/// Records a mapped copy of a module.
pub(crate) fn note_mapped(module: &str, part: Part) {
    let mut modules = lock(&MODULES);
    let copies = modules.get(module).map_or(0, |(_, copies)| *copies);
    modules.insert(module.to_owned(), (part, copies + 1));
}

/// Returns the message of the dynamic linker, followed by each [`Consumer`] and the help. `library` is the rejected dependency of the
/// module. `None` means that the dynamic linker rejected the module itself.
pub(crate) fn reason(module: &str, message: &str, library: Option<&Path>, own: Option<&Part>) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let libraries = process::static_tls().into_iter().map(|(path, used)| Consumer {
        name: name(&path),
        part: Part { used, help: "let the host open this library before any plugin, at its start" },
        copies: 1,
    });
    let modules = lock(&MODULES).clone();
    let modules = modules.into_iter().map(|(name, (part, copies))| Consumer { name, part, copies });
    in_words(module, message, library.map(name).as_deref(), own, libraries.chain(modules).collect())
}

fn in_words(module: &str, message: &str, library: Option<&str>, own: Option<&Part>, mut used: Vec<Consumer>) -> String {
    let mut words = message.to_owned();
    match (library, own) {
        (Some(library), _) => words += &format!(", for {library}, which {module} needs"),
        (None, Some(part)) => words += &format!(": each copy of {module} takes {}", part.describe_used()),
        (None, None) => {}
    }
    used.sort_by_key(|consumer| std::cmp::Reverse(consumer.bytes()));
    if used.is_empty() {
        words += "; none was taken before";
    } else {
        let all: Vec<_> = used.iter().map(Consumer::in_words).collect();
        words += &format!("; taken before: {}", all.join(", "));
    }
    // Adds the help for the file that uses most of the storage. This file may be the rejected module.
    let own = own.filter(|_| library.is_none()).map(|part| (module, part, part.used.bytes));
    let others = used.iter().map(|consumer| (consumer.name.as_str(), &consumer.part, consumer.bytes()));
    match own.into_iter().chain(others).max_by_key(|(_, _, bytes)| *bytes) {
        Some((name, part, _)) => words + &format!("; of {name}: {}", part.help),
        None => words + "; link that library into the plugin, or let the host open it at its start",
    }
}

impl Consumer {
    fn bytes(&self) -> u64 {
        self.part.used.bytes.saturating_mul(self.copies)
    }

    fn in_words(&self) -> String {
        let Self { name, part, copies } = self;
        match copies {
            1 => format!("{} by {name}", part.describe_used()),
            _ => format!("{} by each of {copies} copies of {name}", part.describe_used()),
        }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_sys::StaticTls;

    use super::{Consumer, Part, in_words};

    fn part(bytes: u64, variables: &[&str], help: &'static str) -> Part {
        let mut used = StaticTls::default();
        (used.bytes, used.variables) = (bytes, variables.iter().map(|name| (*name).to_owned()).collect());
        Part { used, help }
    }

    fn consumer(name: &str, copies: u64, part: Part) -> Consumer {
        Consumer { name: name.to_owned(), part, copies }
    }

    #[test]
    fn the_module_with_the_most_copies_is_named_though_another_fails() {
        let used =
            vec![consumer("small", 2, part(8, &[], "a")), consumer("greedy", 6, part(200, &["heap"], "drop it"))];
        assert_eq!(
            in_words("late", "no room", None, Some(&part(16, &["a", "b", "c", "d"], "b")), used),
            "no room: each copy of late takes 16 bytes (`a`, `b`, `c` and 1 more); taken before: 200 bytes (`heap`) by each of 6 \
             copies of greedy, 8 bytes by each of 2 copies of small; of greedy: drop it"
        );
    }

    #[test]
    fn a_module_that_is_too_large_for_itself_is_named() {
        assert_eq!(
            in_words("huge", "no room", None, Some(&part(65536, &["large"], "shrink")), Vec::new()),
            "no room: each copy of huge takes 65536 bytes (`large`); none was taken before; of huge: shrink"
        );
    }

    #[test]
    fn a_library_that_the_linker_refused_is_named() {
        let used = vec![consumer("libother.so", 1, part(64, &[], "open it early"))];
        assert_eq!(
            in_words("late", "no room", Some("libneeded.so"), Some(&part(999, &[], "b")), used),
            "no room, for libneeded.so, which late needs; taken before: 64 bytes by libother.so; of libother.so: open it early"
        );
        assert_eq!(
            in_words("late", "no room", Some("libneeded.so"), None, Vec::new()),
            "no room, for libneeded.so, which late needs; none was taken before; link that library into the plugin, or \
             let the host open it at its start"
        );
    }
}
