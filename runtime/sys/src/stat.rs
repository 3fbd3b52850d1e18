//! Reads `stat` files of `/proc`, which describe a process or a thread.

use std::fs;

/// Returns the start time of a process in clock ticks since the boot of the machine. Returns `None` if the process has ended, or if the
/// platform does not report start times. The start time distinguishes a process from a later process that reuses its id.
///
/// # Examples
/// ```
/// use alcedo_sys::process;
///
/// let own = process::started(std::process::id());
/// assert_eq!(own.is_some(), cfg!(target_os = "linux"));
/// ```
pub fn started(process: u32) -> Option<u64> {
    // The start time is field 22.
    fields_of_stat(&fs::read(format!("/proc/{process}/stat")).ok()?)?.get(19)?.parse().ok()
}

/// Returns the fields of a `stat` file from the third field on. The second field is a name in parentheses, which may contain any byte.
pub(crate) fn fields_of_stat(text: &[u8]) -> Option<Vec<&str>> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    Some(std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::{fields_of_stat, started};

    #[test]
    fn fields_follow_a_name_that_may_contain_anything() {
        assert_eq!(fields_of_stat(b"7 (a) R 0 (b\n) S 1\n"), Some(vec!["S", "1"]));
        assert_eq!(fields_of_stat(b"7 S 1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_start_of_this_process_is_known() {
        let own = started(std::process::id());
        assert!(own.is_some_and(|started| started > 0), "{own:?}");
    }
}
