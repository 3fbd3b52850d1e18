//! What becomes of requests that were made inside calls, when the safe point comes. Requests in, one thing to do out:
//! this file decides, and the root does it.

use std::path::PathBuf;

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// The Master reloaded from these libraries.
    Reload {
        /// All of them.
        libraries: Vec<PathBuf>,
        /// Which modules are to be replaced.
        scope: ReloadScope,
    },
    /// The Master unloaded.
    Unload,
}

/// Which modules a reload replaces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum ReloadScope {
    /// Those whose library is another build, and those that depend on them.
    Changed,
    /// All of the Master.
    #[default]
    All,
}

/// What is to be done at the safe point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// One reload, which answers that many requests.
    Reload {
        /// The libraries of the last request.
        libraries: Vec<PathBuf>,
        /// The widest that was requested.
        scope: ReloadScope,
        /// How many requests it answers.
        answers: u64,
    },
    /// The Master goes, and that many requests for a reload are moot.
    Unload {
        /// Reloads that were requested before or after.
        moot: u64,
    },
}

/// What to do about all requests since the last safe point, in the order in which they were made.
///
/// An unload goes before every reload: there is nothing to reload after it, and what a reload before it would bring up
/// would only be taken down again. Of several reloads one is done: from the libraries named last, since they are what
/// is there now, and as wide as any of them asked.
pub(crate) fn plan(requests: &[Request]) -> Option<Plan> {
    let mut reload: Option<(&[PathBuf], ReloadScope)> = None;
    let mut answers = 0;
    for request in requests {
        if let Request::Reload { libraries, scope } = request {
            reload = Some((libraries, reload.map_or(*scope, |(_, widest)| widest.max(*scope))));
            answers += 1;
        }
    }
    if requests.contains(&Request::Unload) {
        return Some(Plan::Unload { moot: answers });
    }
    reload.map(|(libraries, scope)| Plan::Reload { libraries: libraries.to_vec(), scope, answers })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Plan, ReloadScope, Request, plan};

    /// `ab` is a reload of a and b, `ab?` of what changed of them, `!` an unload.
    fn check(requests: &str, expected: &str) {
        let libraries = |names: &str| names.chars().map(|name| PathBuf::from(name.to_string())).collect();
        let request = |word: &str| match (word, word.strip_suffix('?')) {
            ("!", _) => Request::Unload,
            (_, Some(names)) => Request::Reload { libraries: libraries(names), scope: ReloadScope::Changed },
            (names, None) => Request::Reload { libraries: libraries(names), scope: ReloadScope::All },
        };
        let requests: Vec<_> = requests.split_whitespace().map(request).collect();
        let found = match plan(&requests) {
            None => "nothing".to_owned(),
            Some(Plan::Unload { moot }) => format!("unload, {moot} moot"),
            Some(Plan::Reload { libraries, scope, answers }) => {
                let names: String = libraries.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                format!("{names} {scope:?} for {answers}")
            }
        };
        assert_eq!(found, expected, "{requests:?}");
    }

    #[test]
    fn several_reloads_are_one_of_the_libraries_named_last() {
        check("", "nothing");
        check("ab", "ab All for 1");
        check("ab ab ab", "ab All for 3");
        check("a ab", "ab All for 2");
    }

    #[test]
    fn a_reload_is_as_wide_as_any_of_them() {
        check("ab?", "ab Changed for 1");
        check("ab? ab?", "ab Changed for 2");
        check("ab? ab", "ab All for 2");
        check("ab ab?", "ab All for 2");
    }

    #[test]
    fn an_unload_wins_wherever_it_stands() {
        check("!", "unload, 0 moot");
        check("! !", "unload, 0 moot");
        check("ab !", "unload, 1 moot");
        check("! ab", "unload, 1 moot");
        check("ab ! ab?", "unload, 2 moot");
    }
}
