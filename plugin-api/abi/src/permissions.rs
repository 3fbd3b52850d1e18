//! Permissions: kinds of process resources whose use a module declares. The declaration is stored as flags of the manifest, which change no
//! layout: hosts of earlier versions ignore the flags, and a manifest of an earlier version declares no permissions.
//!
//! A declaration does not restrict code. A host compares the declaration with the imports of the file and with the calls that the hooks
//! record.

/// Kind of resource that a module uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Permission {
    /// Sockets and host names. Excludes pairs of connected local sockets.
    Network,
    /// Files and folders.
    Files,
    /// Threads that the module starts.
    Threads,
    /// Signal actions, and timers that raise signals.
    Signals,
    /// C libraries that the file lists as dependencies or opens at run time. Excludes the C library of the platform.
    CLibraries,
}

impl Permission {
    /// All permissions, in the order in which the documentation lists them.
    pub const ALL: [Self; 5] = [Self::Network, Self::Files, Self::Threads, Self::Signals, Self::CLibraries];

    /// Returns the name of the permission in `module!`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Files => "files",
            Self::Threads => "threads",
            Self::Signals => "signals",
            Self::CLibraries => "c_libraries",
        }
    }

    /// Returns the flag of the permission in the manifest.
    const fn flag(self) -> u32 {
        match self {
            Self::Network => 1 << 5,
            Self::Files => 1 << 6,
            Self::Threads => 1 << 7,
            Self::Signals => 1 << 8,
            Self::CLibraries => 1 << 9,
        }
    }
}

impl core::fmt::Display for Permission {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// Manifest flag that every declaration of permissions sets. A declaration without permissions sets only this flag.
const DECLARED: u32 = 1 << 4;

/// Permissions that a module declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Permissions(u32);

impl Permissions {
    /// Creates a declaration of these permissions.
    #[must_use]
    pub const fn of(permissions: &[Permission]) -> Self {
        let (mut flags, mut at) = (0, 0);
        while at < permissions.len() {
            flags |= permissions[at].flag();
            at += 1;
        }
        Self(flags)
    }

    /// Returns true if the permission is declared.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.flag() != 0
    }

    /// Returns the declared permissions, without permissions that only later versions define.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }

    /// Returns the flags of a manifest.
    pub(crate) const fn to_flags(declared: Option<Self>) -> u32 {
        match declared {
            Some(Self(flags)) => DECLARED | flags,
            None => 0,
        }
    }

    /// Reads the declaration from the flags of a manifest. Returns `None` if the manifest has no declaration.
    pub(crate) const fn of_flags(flags: u32) -> Option<Self> {
        let Self(all) = Self::of(&Permission::ALL);
        if flags & DECLARED == 0 { None } else { Some(Self(flags & all)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Permission, Permissions};

    #[test]
    fn every_set_of_permissions_is_read_back_unchanged() {
        assert_eq!(Permissions::of_flags(Permissions::to_flags(None)), None);
        for bits in 0..1 << Permission::ALL.len() {
            let chosen: Vec<_> = (0..).zip(Permission::ALL).filter(|(at, _)| bits >> at & 1 != 0).collect();
            let chosen: Vec<_> = chosen.into_iter().map(|(_, permission)| permission).collect();
            let declared = Permissions::of(&chosen);
            assert_eq!(Permissions::of_flags(Permissions::to_flags(Some(declared))), Some(declared));
            assert_eq!(declared.iter().collect::<Vec<_>>(), chosen);
        }
    }

    #[test]
    fn flags_of_other_facts_declare_no_permissions() {
        assert_eq!(Permissions::of_flags(0b1111), None);
        assert_eq!(Permissions::of_flags(0b1111 | 1 << 31), None);
        let declared = Permissions::of_flags(0b1_1111 | 1 << 31).expect("a declaration");
        assert_eq!(declared.iter().count(), 0);
    }
}
