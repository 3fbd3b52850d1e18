//! Extracts the holders of an image, such as threads that keep the image mapped, from a message of the runtime.

use std::collections::BTreeSet;

/// Returns the holders that a message about a parked image names. For example, returns `thread smol-1` for `… stays mapped (x.so): kept by
/// thread smol-1 thread smol-1, 0.1 s; …`. Drops ages and descriptors, because these differ between generations.
pub(crate) fn holders(parked: &str) -> BTreeSet<String> {
    let reason = parked.rsplit_once("): ").map_or(parked, |(_, reason)| reason);
    let Some(list) = reason.strip_prefix("kept by ") else { return BTreeSet::from([reason.to_owned()]) };
    let name = |entry: &str| without_descriptor(entry.split("   ").next().unwrap_or(entry).trim());
    let names: BTreeSet<_> = list.split("; ").map(name).map(|name| unnamed(&name).unwrap_or(name)).collect();
    // If threads are among the holders, lists only the threads, because the remaining holders are usually thread-locals of these threads.
    let is_thread = |name: &&String| name.starts_with("thread ");
    if names.iter().any(|name| is_thread(&name)) { names.iter().filter(is_thread).cloned().collect() } else { names }
}

/// Removes the descriptor from the name of an `io_uring` ring, because descriptors differ between generations.
fn without_descriptor(name: &str) -> String {
    match name.split_once(" (descriptor ").and_then(|(begin, rest)| Some((begin, rest.split_once(')')?.1))) {
        Some((begin, rest)) => format!("{begin}{rest}"),
        None => name.to_owned(),
    }
}

/// Replaces the name of an unnamed thread, for which the system uses the name of the program.
fn unnamed(name: &str) -> Option<String> {
    let program = std::env::current_exe().ok()?;
    // Truncates the name as the system truncates names of threads.
    let program: String = program.file_name()?.to_str()?.chars().take(15).collect();
    (name == format!("thread \"{program}\"")).then(|| "thread without a name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::holders;

    #[test]
    fn holders_of_an_image_are_named_without_ages() {
        let check = |line: &str, expected: &[&str]| assert_eq!(holders(line).into_iter().collect::<Vec<_>>(), expected);
        check(
            "m of generation 3 stays mapped (m.so): kept by thread smol-1   thread smol-1, 0.1 s; thread async-io   \
             thread async-io, 0.1 s",
            &["thread async-io", "thread smol-1"],
        );
        check(
            "m of generation 3 stays mapped (m.so): kept by thread x   thread x, 0.1 s; thread-local destructor 3   f",
            &["thread x"],
        );
        check(
            "m of generation 3 stays mapped (m.so): kept by io_uring (descriptor 9) with requests in flight   x, 0.1 s",
            &["io_uring with requests in flight"],
        );
        check(
            "m of generation 3 stays mapped (m.so): the loader still counts uses of it",
            &["the loader still counts uses of it"],
        );
    }
}
