//! Computes freed address ranges from two readings of the list of mappings.

/// A range of addresses that is no longer mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Former contents: a file, or anonymous memory.
    pub(crate) was: String,
}

impl Freed {
    /// Formats the range as a line of the list that the neighbor receives.
    pub(crate) fn line(&self) -> String {
        format!("{:x}-{:x} {}\n", self.start, self.end, self.was)
    }
}

/// Returns the ranges that are mapped in `before` but not in `after`. Excludes freed parts of the heap and of stacks, because a mapping
/// there would prevent the heap or a stack from growing.
pub(crate) fn freed(before: &str, after: &str) -> Vec<Freed> {
    let mut mapped: Vec<_> = after.lines().filter_map(mapping).collect();
    mapped.sort_by_key(|mapping| mapping.start);
    let grows = |was: &str| was == "[heap]" || was.starts_with("[stack");
    before
        .lines()
        .filter_map(mapping)
        .filter(|mapping| !grows(&mapping.was))
        .flat_map(|old| without(old, &mapped))
        .collect()
}

/// Returns the parts of a range that do not overlap `mapped`.
fn without(old: Freed, mapped: &[Freed]) -> Vec<Freed> {
    let mut left = Vec::new();
    let mut start = old.start;
    for other in mapped.iter().filter(|other| other.start < old.end && other.end > old.start) {
        if other.start > start {
            left.push(Freed { start, end: other.start, was: old.was.clone() });
        }
        start = start.max(other.end);
    }
    if start < old.end {
        left.push(Freed { start, ..old });
    }
    left
}

/// Parses a line of `/proc/self/maps`. Keeps only the file name of the path.
fn mapping(line: &str) -> Option<Freed> {
    let (start, end) = range(line)?;
    let rest = line.split_once(' ')?.1;
    // Access, offset, device and inode precede the path. The path may contain spaces.
    let path = rest.splitn(5, ' ').nth(4).unwrap_or("").trim();
    let name = path.rsplit('/').next().unwrap_or("");
    let was = if name.is_empty() { "memory without a name".to_owned() } else { name.to_owned() };
    Some(Freed { start, end, was })
}

/// Returns the start and end address in a line of `/proc/self/maps`.
pub(crate) fn range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Freed, freed};

    const BEFORE: &str = "\
55000000-55010000 rw-p 00000000 00:00 0                                  [heap]
7f000000-7f010000 r-xp 00000000 08:01 42                                 /tmp/a folder/surveyed.so
7f020000-7f030000 rw-p 00000000 00:00 0 
7f040000-7f050000 rw-p 00000000 08:01 43                                 /lib/libc.so.6
";

    fn check(after: &str, expected: &[&str]) {
        let lines: Vec<_> = freed(BEFORE, after).iter().map(Freed::line).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn freed_ranges_have_the_name_of_their_former_content() {
        check(
            "7f040000-7f050000 rw-p 00000000 08:01 43   /lib/libc.so.6\n",
            &["7f000000-7f010000 surveyed.so\n", "7f020000-7f030000 memory without a name\n"],
        );
        check(BEFORE, &[]);
    }

    #[test]
    fn heaps_and_stacks_are_left_out() {
        let before = "55000000-55010000 rw-p 0 0 0 [heap]\n7ff00000-7ff20000 rw-p 0 0 0 [stack]\n7f000000-7f010000 rw-p 0 0 0 [stack:42]\n";
        assert_eq!(freed(before, ""), []);
    }

    #[test]
    fn reused_ranges_are_excluded() {
        check(
            "7f004000-7f006000 rw-p 0 0 0\n7f00f000-7f021000 rw-p 0 0 0\n7f02f000-7f050000 rw-p 0 0 0\n",
            &[
                "7f000000-7f004000 surveyed.so\n",
                "7f006000-7f00f000 surveyed.so\n",
                "7f021000-7f02f000 memory without a name\n",
            ],
        );
    }
}
