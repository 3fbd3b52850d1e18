//! Checks if a module uses process resources that its manifest does not declare, and formats the results. Uses are detected from the
//! imports of the file and from the notes of the hooks. The check finds mistakes by plugin authors, but does not restrict code. A module
//! without a list of permissions is not checked.

use alcedo_abi::permissions::{Permission, Permissions};
use alcedo_sys::{Use, UseKind};

use crate::load::error::LoadError;
use crate::load::hooks;

/// Policy of a host for modules that use resources without a permission in their manifest. A module without a list of permissions is always
/// accepted; see [`Builder::permissions`](crate::Builder::permissions).
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{PermissionPolicy, Runtime};
///
/// let builder = Runtime::builder().permissions(PermissionPolicy::Refuse);
/// # let _runtime = builder.build()?;
/// assert_eq!(PermissionPolicy::default(), PermissionPolicy::Report);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PermissionPolicy {
    /// Accepts the module without a message.
    Ignore,
    /// Accepts the module, logs a warning, and adds the warning to the report of the reload.
    #[default]
    Report,
    /// Rejects a load or a reload if a module uses an undeclared resource before the commit. Uses after the commit are logged.
    Refuse,
}

/// Use of a resource that a module does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undeclared {
    permission: Permission,
    /// Description of the use, as a verb with an object, such as ``imports `connect` ``.
    by: String,
}

/// Imported functions without a hook, with the permission that each function requires. File functions such as `read` and `stat64` are not
/// listed, because the standard library of each plugin imports them. `docs/trusting-files.md` contains the same list.
const IMPORTS: [(Permission, &[&str]); 5] = [
    (
        Permission::Network,
        &[
            "bind",
            "connect",
            "getaddrinfo",
            "gethostbyaddr",
            "gethostbyname",
            "gethostbyname2",
            "gethostbyname2_r",
            "gethostbyname_r",
            "getnameinfo",
            "listen",
        ],
    ),
    (
        Permission::Files,
        &[
            "chdir",
            "chmod",
            "chown",
            "fchmodat",
            "fchownat",
            "freopen",
            "freopen64",
            "fts64_open",
            "fts_open",
            "ftw",
            "ftw64",
            "glob",
            "glob64",
            "lchown",
            "link",
            "linkat",
            "mkdir",
            "mkdirat",
            "mkdtemp",
            "mkfifo",
            "mkfifoat",
            "mknod",
            "mknodat",
            "mkostemps",
            "mkostemps64",
            "mkstemps",
            "mkstemps64",
            "nftw",
            "nftw64",
            "readdir",
            "readdir64",
            "remove",
            "rename",
            "renameat",
            "renameat2",
            "rmdir",
            "scandir",
            "scandir64",
            "scandirat",
            "scandirat64",
            "shm_open",
            "symlink",
            "symlinkat",
            "truncate",
            "truncate64",
            "unlink",
            "unlinkat",
        ],
    ),
    (Permission::Threads, &["_pthread_create", "clone", "pthread_create", "thrd_create"]),
    (
        Permission::Signals,
        &["__sigaction", "__sysv_signal", "sigaction", "sigignore", "signal", "sigset", "sysv_signal"],
    ),
    (Permission::CLibraries, &["dlmopen", "dlopen"]),
];

/// Declared permissions of a module, and the undeclared uses that were detected in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declaration {
    permissions: Option<Permissions>,
    undeclared: Vec<Undeclared>,
}

impl Declaration {
    /// Creates the declaration for a file. `needed` lists the libraries that the dynamic linker loads for the file.
    pub(crate) fn of_file(permissions: Option<Permissions>, imports: &[String], needed: &[String]) -> Self {
        Self { permissions, undeclared: of_file(permissions, imports, needed) }
    }

    /// Returns the declared permissions. Returns `None` if the manifest has no list of permissions. The module is then not checked.
    pub(crate) fn permissions(&self) -> Option<Permissions> {
        self.permissions
    }

    /// Returns the undeclared uses of the module, with one use for each permission. Uses that were detected in the file are listed first.
    fn undeclared(&self, uses: &[Use]) -> Vec<Undeclared> {
        let is_new = |found: &Undeclared| !self.undeclared.iter().any(|known| known.permission == found.permission);
        let observed = of_uses(self.permissions, uses).into_iter().filter(is_new);
        self.undeclared.iter().cloned().chain(observed).collect()
    }
}

/// Returns the undeclared uses that are detected in a file.
fn of_file(declared: Option<Permissions>, imports: &[String], needed: &[String]) -> Vec<Undeclared> {
    let is_c_library = |library: &&String| !hooks::is_platform(library) || library.starts_with("libz.so");
    let libraries = needed.iter().filter(is_c_library);
    let libraries = libraries.map(|library| (Permission::CLibraries, format!("needs {library}")));
    let permission_of = |import: &String| {
        let found = IMPORTS.iter().find(|(_, names)| names.contains(&import.as_str()));
        found.map(|(permission, _)| (*permission, format!("imports `{import}`")))
    };
    undeclared(declared, libraries.chain(imports.iter().filter_map(permission_of)))
}

/// Returns the undeclared uses that the hooks of a module have noted.
fn of_uses(declared: Option<Permissions>, uses: &[Use]) -> Vec<Undeclared> {
    let permission_of = |found: &Use| {
        let permission = match found.kind {
            UseKind::Socket => Permission::Network,
            UseKind::File => Permission::Files,
            UseKind::Thread => Permission::Threads,
            UseKind::Signal => Permission::Signals,
            _ => return None,
        };
        Some((permission, found.by.clone()))
    };
    undeclared(declared, uses.iter().filter_map(permission_of))
}

/// Returns the first use for each undeclared permission. Returns an empty list for a module without a list of permissions.
fn undeclared(declared: Option<Permissions>, uses: impl Iterator<Item = (Permission, String)>) -> Vec<Undeclared> {
    let Some(declared) = declared else { return Vec::new() };
    let mut found: Vec<Undeclared> = Vec::new();
    for (permission, by) in uses.filter(|(permission, _)| !declared.contains(*permission)) {
        if !found.iter().any(|known| known.permission == permission) {
            found.push(Undeclared { permission, by });
        }
    }
    found
}

/// Checks a module under the policy of the host. `uses` contains the uses that the hooks of the module have noted.
///
/// # Errors
/// Returns an error if the policy rejects the undeclared uses of the module.
pub(crate) fn check(
    policy: PermissionPolicy,
    module: &str,
    declaration: &Declaration,
    uses: &[Use],
) -> Result<(), LoadError> {
    let found = if policy == PermissionPolicy::Refuse { declaration.undeclared(uses) } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    let listed = |Undeclared { permission, by }: &Undeclared| format!("`{permission}`, since it {by}");
    let declared = declaration.permissions.into_iter().flat_map(Permissions::iter);
    let needed: Vec<_> = declared.chain(found.iter().map(|found| found.permission)).map(Permission::name).collect();
    Err(LoadError::Undeclared {
        module: module.to_owned(),
        uses: found.iter().map(listed).collect::<Vec<_>>().join("; "),
        permissions: needed.join(", "),
    })
}

/// Returns a warning for each resource use that a module does not declare, unless the policy ignores undeclared uses. Messages print each
/// warning after the name of the module.
pub(crate) fn warnings(policy: PermissionPolicy, declaration: &Declaration, uses: &[Use]) -> Vec<String> {
    as_warnings(policy, declaration.undeclared(uses))
}

/// Returns the [`warnings`] about uses that the hooks have noted. Omits permissions whose use was already detected in the file.
pub(crate) fn warnings_of_uses(policy: PermissionPolicy, declaration: &Declaration, uses: &[Use]) -> Vec<String> {
    as_warnings(policy, declaration.undeclared(uses).split_off(declaration.undeclared.len()))
}

fn as_warnings(policy: PermissionPolicy, found: Vec<Undeclared>) -> Vec<String> {
    if policy == PermissionPolicy::Ignore {
        return Vec::new();
    }
    let warning = |Undeclared { permission, by }: Undeclared| {
        format!(
            "uses `{permission}` without the permission: it {by}; add `{permission}` to `permissions` of its `module!`"
        )
    };
    found.into_iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use alcedo_abi::permissions::{Permission, Permissions};
    use alcedo_sys::{Use, UseKind};

    use super::{Declaration, IMPORTS, PermissionPolicy, check, of_file, of_uses, warnings, warnings_of_uses};

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn uses(kinds: &[(UseKind, &str)]) -> Vec<Use> {
        kinds.iter().map(|(kind, by)| Use { kind: *kind, by: (*by).to_owned() }).collect()
    }

    fn declaration(declared: Option<&[Permission]>, imports: &[&str]) -> Declaration {
        Declaration::of_file(declared.map(Permissions::of), &owned(imports), &[])
    }

    /// Imports of a plugin that requires no permission.
    const PLAIN: [&str; 12] = [
        "dlsym", "dlvsym", "fstat64", "getenv", "lseek64", "pause", "read", "readlink", "stat64", "statx", "write",
        "writev",
    ];
    const PLATFORM: [&str; 4] = ["libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"];

    #[test]
    fn files_show_uses_by_imports_and_needed_libraries() {
        let shown = |imports: &[&str], needed: &[&str]| {
            let found = of_file(Some(Permissions::default()), &owned(imports), &owned(needed));
            found.iter().map(|found| format!("{}: {}", found.permission, found.by)).collect::<Vec<_>>()
        };
        assert_eq!(shown(&PLAIN, &PLATFORM), [""; 0], "the standard library alone");
        for (import, expected) in [
            ("connect", "network: imports `connect`"),
            ("getaddrinfo", "network: imports `getaddrinfo`"),
            ("unlink", "files: imports `unlink`"),
            ("remove", "files: imports `remove`"),
            ("mkdtemp", "files: imports `mkdtemp`"),
            ("fts64_open", "files: imports `fts64_open`"),
            ("readdir64", "files: imports `readdir64`"),
            ("clone", "threads: imports `clone`"),
            ("sigset", "signals: imports `sigset`"),
            ("sigignore", "signals: imports `sigignore`"),
            ("dlopen", "c_libraries: imports `dlopen`"),
        ] {
            assert_eq!(shown(&[PLAIN.as_slice(), &[import]].concat(), &PLATFORM), [expected]);
        }
        assert_eq!(shown(&[], &["libssl.so.3", "libc.so.6"]), ["c_libraries: needs libssl.so.3"]);
        assert_eq!(shown(&[], &["libz.so.1"]), ["c_libraries: needs libz.so.1"]);
        assert_eq!(shown(&["bind", "connect", "listen"], &[]), ["network: imports `bind`"], "one use each");
    }

    #[test]
    fn hooks_show_uses_by_their_kind() {
        let kinds = [UseKind::Socket, UseKind::File, UseKind::Thread, UseKind::Signal];
        let seen = uses(&kinds.map(|kind| (kind, "did")));
        let permissions = |declared: &[Permission]| {
            let found = of_uses(Some(Permissions::of(declared)), &seen);
            found.iter().map(|found| found.permission.name()).collect::<Vec<_>>()
        };
        assert_eq!(permissions(&[]), ["network", "files", "threads", "signals"]);
        assert_eq!(permissions(&[Permission::Files, Permission::Signals]), ["network", "threads"]);
        assert_eq!(permissions(&Permission::ALL), [""; 0]);
        assert!(of_uses(None, &seen).is_empty(), "a module without a declaration is not checked");
    }

    #[test]
    fn each_policy_decides_for_each_declaration() {
        let threads = uses(&[(UseKind::Thread, "called `pthread_create`")]);
        let all: &[Permission] = &Permission::ALL;
        for (declared, imports, seen, is_undeclared) in [
            (None, &["connect"][..], &threads[..], false),
            (Some(all), &["connect"][..], &threads[..], false),
            (Some(&[][..]), &[][..], &[][..], false),
            (Some(&[][..]), &["connect"][..], &[][..], true),
            (Some(&[][..]), &[][..], &threads[..], true),
            (Some(&[Permission::Threads][..]), &[][..], &threads[..], false),
            (Some(&[Permission::Network][..]), &["connect"][..], &threads[..], true),
        ] {
            let declaration = declaration(declared, imports);
            for (policy, refuses, warns) in [
                (PermissionPolicy::Ignore, false, false),
                (PermissionPolicy::Report, false, true),
                (PermissionPolicy::Refuse, true, true),
            ] {
                let case = format!("{declared:?} {imports:?} {seen:?} {policy:?}");
                assert_eq!(check(policy, "tale", &declaration, seen).is_err(), refuses && is_undeclared, "{case}");
                assert_eq!(!warnings(policy, &declaration, seen).is_empty(), warns && is_undeclared, "{case}");
            }
        }
    }

    #[test]
    fn messages_name_permission_evidence_and_remedy() {
        let declaration = declaration(Some(&[Permission::Files]), &["connect"]);
        let seen = uses(&[(UseKind::Socket, "opened a socket"), (UseKind::Thread, "called `pthread_create`")]);
        let refused =
            check(PermissionPolicy::Refuse, "tale", &declaration, &seen).expect_err("two permissions are missing");
        assert_eq!(
            refused.to_string(),
            "tale uses resources that its `module!` does not declare: `network`, since it imports `connect`; `threads`, since it \
             called `pthread_create`; write `permissions: [files, network, threads]`, or remove these uses; the policy of this host \
             is `PermissionPolicy::Refuse`"
        );
        let of_file = "uses `network` without the permission: it imports `connect`; add `network` to `permissions` of its `module!`";
        let of_uses = "uses `threads` without the permission: it called `pthread_create`; add `threads` to `permissions` of its \
             `module!`";
        assert_eq!(warnings(PermissionPolicy::Report, &declaration, &seen), [of_file, of_uses]);
        let later = warnings_of_uses(PermissionPolicy::Report, &declaration, &seen);
        assert_eq!(later, [of_uses], "the file was reported already");
    }

    #[test]
    fn the_page_lists_every_import() {
        let page = include_str!("../../docs/trusting-files.md");
        for (permission, names) in IMPORTS {
            let start = format!("\n* `{permission}`: ");
            let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("the page has no list for {permission}"));
            let list = rest.split("\n\n").next().and_then(|rest| rest.split("\n* ").next()).unwrap_or_default();
            let listed: Vec<_> = list.split('`').skip(1).step_by(2).collect();
            assert_eq!(listed, names, "{permission}");
        }
    }
}
