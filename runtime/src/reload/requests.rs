//! Merges reload and unload requests into one plan for the next safe point. This file computes the plan. The root module executes the plan.

use std::path::PathBuf;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// Reload of the Master from these libraries.
    Reload {
        libraries: Vec<PathBuf>,
        scope: ReloadScope,
    },
    Unload,
}

/// Scope of a reload.
///
/// # Examples
/// ```rust,no_run
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// use alcedo_runtime::ReloadScope;
///
/// let libraries = vec!["/opt/game/plugins/libweather.so".into(), "/opt/game/plugins/libquests.so".into()];
/// runtime.request_reload_of(libraries, ReloadScope::Changed);
/// runtime.safe_point();
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum ReloadScope {
    /// Replaces the modules whose own library, or a C library that they call, has changed, and all modules that depend on a replaced
    /// module.
    Changed,
    /// Replaces all modules of the Master.
    #[default]
    All,
}

/// Effect of `Builder::parked_budget` on a reload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BudgetUse {
    /// The reload fails if the number of parked images exceeds the limit of the host.
    Limited,
    /// The reload ignores this limit. Used for a reload that replaces unhealthy code.
    Exempt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// Single reload, merged from all requests.
    Reload {
        libraries: Vec<PathBuf>,
        scope: ReloadScope,
        /// Number of requests merged into this reload.
        answers: u64,
    },
    /// Unload of the Master. Reload requests are dropped.
    Unload {
        /// Number of dropped reload requests.
        moot: u64,
    },
}

/// Merges all requests since the last safe point. `requests` contains the request of the file watch, followed by the requests of the host,
/// sorted by time.
///
/// If one of the requests is an unload, drops all reloads, because the reloaded modules would be unloaded immediately. Merges several
/// reloads into one reload with the libraries of the last request and the widest scope.
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

    /// Parses requests. `ab` is a reload of a and b with the scope `All`. `ab?` is a reload with the scope `Changed`, and `!` is an unload.
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
    fn an_unload_wins_in_any_position() {
        check("!", "unload, 0 moot");
        check("! !", "unload, 0 moot");
        check("ab !", "unload, 1 moot");
        check("! ab", "unload, 1 moot");
        check("ab ! ab?", "unload, 2 moot");
    }
}
