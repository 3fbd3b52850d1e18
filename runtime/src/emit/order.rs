//! Groups modules into batches that are declared together, and orders the batches. Two libraries may each refer to types of the other
//! library. Each batch therefore contains as many libraries as possible. A script package is a separate batch after its dependencies,
//! because its source is checked against declared types.

/// Facts about a module that determine its batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleNeeds<'a> {
    pub name: &'a str,
    pub is_script: bool,
    /// Names of the required modules. The types of a required module outside of the input are already declared.
    pub needs: &'a [&'a str],
}

/// Returns the indices of the modules, batch by batch. The last batch contains the modules with cyclic dependencies, if any. Most callers
/// have already rejected cycles.
pub(crate) fn batches(modules: &[ModuleNeeds<'_>]) -> Vec<Vec<usize>> {
    let mut batches = Vec::new();
    let mut left: Vec<usize> = (0..modules.len()).collect();
    while !left.is_empty() {
        let is_left = |name: &str| left.iter().any(|at| modules[*at].name == name);
        let waits = |at: usize| modules[at].needs.iter().any(|need| *need != modules[at].name && is_left(need));
        // A library waits only for the script packages that the library requires, directly or indirectly.
        let mut waiting: Vec<usize> = left.iter().copied().filter(|at| modules[*at].is_script).collect();
        let mut at = 0;
        while at < waiting.len() {
            let name = modules[waiting[at]].name;
            let needs_it = |other: &usize| !waiting.contains(other) && modules[*other].needs.contains(&name);
            waiting.extend(left.iter().copied().filter(needs_it).collect::<Vec<_>>());
            at += 1;
        }
        let mut batch: Vec<usize> = left.iter().copied().filter(|at| !waiting.contains(at)).collect();
        if batch.is_empty() {
            batch.extend(left.iter().copied().find(|at| modules[*at].is_script && !waits(*at)));
        }
        if batch.is_empty() {
            batch.clone_from(&left);
        }
        left.retain(|at| !batch.contains(at));
        batches.push(batch);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::{ModuleNeeds, batches};

    /// Parses modules: `a; s*: a; b: s` lists a library `a`, a script package `s` that needs `a`, and a library `b` that needs
    /// `s`.
    fn check(text: &str, expected: &str) {
        let module = |text: &'static str| {
            let (name, needs) = text.split_once(':').unwrap_or((text, ""));
            (name.trim(), needs.split_whitespace().collect::<Vec<_>>())
        };
        let text: &'static str = text.to_owned().leak();
        let modules: Vec<_> = text.split(';').filter(|part| !part.trim().is_empty()).map(module).collect();
        let module_needs = |(name, needs): &'static (&'static str, Vec<&'static str>)| ModuleNeeds {
            name: name.trim_end_matches('*'),
            is_script: name.ends_with('*'),
            needs,
        };
        let modules: &'static [_] = modules.leak();
        let modules: Vec<_> = modules.iter().map(module_needs).collect();
        let name = |batch: &Vec<usize>| batch.iter().map(|at| modules[*at].name).collect::<Vec<_>>().join(" ");
        assert_eq!(batches(&modules).iter().map(name).collect::<Vec<_>>().join(" | "), expected, "{text}");
    }

    #[test]
    fn libraries_are_one_batch() {
        check("", "");
        check("a; b: a; c", "a b c");
        check("a: b; b: a", "a b");
    }

    #[test]
    fn a_package_of_scripts_is_a_batch_behind_what_it_needs() {
        check("a; s*: a; b", "a b | s");
        check("s*; a", "a | s");
        check("s*; t*: s", "s | t");
        check("t*: s; s*", "s | t");
    }

    #[test]
    fn a_library_that_needs_scripts_follows_them() {
        check("a; s*: a; b: s; c: b", "a | s | b c");
        check("s*; b: s; t*: b; c: t", "s | b | t | c");
        check("s*: elsewhere; b: s elsewhere", "s | b");
    }

    #[test]
    fn a_cycle_is_one_batch_at_the_end() {
        check("a; s*: t; t*: s", "a | s t");
    }
}
