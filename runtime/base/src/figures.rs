//! Formats numbers in messages, with thousands separators and plural nouns.

/// Formats a number with its thousands separated by commas.
///
/// # Examples
/// ```
/// use alcedo_base::figures::thousands;
///
/// assert_eq!([0, 999, 1_234_567].map(thousands), ["0", "999", "1,234,567"]);
/// ```
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Formats a number with a noun that has a regular plural.
///
/// # Examples
/// ```
/// use alcedo_base::figures::counted;
///
/// assert_eq!([0, 1, 2000].map(|count| counted(count, "object")), ["0 objects", "1 object", "2,000 objects"]);
/// ```
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}
