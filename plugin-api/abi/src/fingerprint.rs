//! Fingerprints of signatures and layouts. Host and plugin compute their fingerprints at compile time or load time, and compare them before
//! the first call. The hash function is FNV-1a: stable, and computable in `const`. It detects mistakes, but not attacks.

/// Fingerprint under construction.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Initial state, before any data is added.
    pub const START: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Adds bytes.
    #[must_use]
    pub const fn bytes(self, bytes: &[u8]) -> Self {
        let mut hash = self.0;
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self(hash)
    }

    /// Adds a string and a terminator. Because of the terminator, `"ab"`, `"c"` and `"a"`, `"bc"` have different fingerprints.
    #[must_use]
    pub const fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).bytes(&[0xff])
    }

    /// Adds a number.
    #[must_use]
    pub const fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Adds the type of a value: its kind, and the path of its struct or class. The path is empty for kinds without a path.
    #[must_use]
    pub const fn value(self, kind: crate::kinds::PropertyKind, type_path: &str) -> Self {
        self.number(kind.0 as u64).text(type_path)
    }

    /// Adds a mark which states that the type added next is the type of an out parameter.
    #[must_use]
    pub const fn out(self) -> Self {
        self.number(0x0ed0)
    }

    /// Adds the type of a parameter.
    #[must_use]
    pub const fn param(self, is_out: bool, kind: crate::kinds::PropertyKind, type_path: &str) -> Self {
        let print = if is_out { self.out() } else { self };
        print.value(kind, type_path)
    }

    /// Adds the type of a result, after a mark that distinguishes `f(a) -> b` from `f(a, b)`.
    #[must_use]
    pub const fn result(self, kind: crate::kinds::PropertyKind, type_path: &str) -> Self {
        self.number(0xfeed).value(kind, type_path)
    }

    /// Returns the finished fingerprint. The fingerprint is never zero, because zero means "not checked".
    #[must_use]
    pub const fn finish(self) -> u64 {
        if self.0 == 0 { 1 } else { self.0 }
    }
}

/// Returns the fingerprint of a function table, whose entries are pairs of a function name and the function's signature fingerprint. The
/// order of the entries has no effect, because functions are bound by name.
#[must_use]
pub const fn table_fingerprint(entries: &[(&str, u64)]) -> u64 {
    let (mut sum, mut at) = (0_u64, 0);
    while at < entries.len() {
        let (name, signature) = entries[at];
        sum = sum.wrapping_add(Fingerprint::START.text(name).number(signature).finish());
        at += 1;
    }
    Fingerprint::START.number(entries.len() as u64).number(sum).finish()
}

#[cfg(test)]
mod tests {
    use super::table_fingerprint;

    #[test]
    fn a_table_has_its_fingerprint_by_names_and_signatures_in_any_order() {
        let table = table_fingerprint(&[("add", 1), ("mul", 2)]);
        assert_eq!(table, table_fingerprint(&[("mul", 2), ("add", 1)]));
        for other in [&[("add", 2), ("mul", 1)][..], &[("add", 1)], &[("add", 1), ("mul", 2), ("mul", 2)], &[]] {
            assert_ne!(table, table_fingerprint(other), "{other:?}");
        }
    }
}
