//! Finds the images that were formerly mapped at an address, for example the faulting address of a crash. Uses only the notes that the host
//! recorded. Finds no image if the address is mapped again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::dump::{CrashDump, ImageRecord};

/// Maximum number of modules reported for an address, and maximum number of reported generations per module.
const MOST: usize = 4;

/// Former images at an address that is no longer mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormerImages {
    /// Description of the images, with names and the times at which they were unmapped.
    pub(super) description: String,
    /// The image, if only one image was ever mapped at this address, and if the host has discarded no records.
    pub(super) alone: Option<ImageRecord>,
}

/// Returns the former images at an address. Returns `None` if the address is mapped, if it was never mapped, or if the mappings are
/// unknown.
pub(super) fn former_images(dump: &CrashDump, address: u64) -> Option<FormerImages> {
    // Checks that the list of mappings exists, because otherwise every address would seem unmapped.
    if dump.mapped_ranges.is_empty() || dump.mapped_ranges.iter().any(|range| range.contains(&address)) {
        return None;
    }
    let mut there: Vec<_> =
        dump.images.iter().filter(|image| image.ranges.iter().any(|range| range.contains(&address))).collect();
    // Sorts the most recently unmapped image first. An image without a time of its unmapping was being unmapped during the crash.
    there.sort_by_key(|image| std::cmp::Reverse(image.unmapped.unwrap_or(Duration::MAX)));
    let last = there.first()?;
    let is_alone = there.len() == 1;
    let mut description = if is_alone { with_generation(last) + "," } else { of_several(&there) };
    description += &ago(last, dump.time);
    if dump.forgotten > 0 {
        description += ", or one of those that were unmapped much earlier";
    }
    Some(FormerImages { description, alone: (is_alone && dump.forgotten == 0).then(|| (*last).clone()) })
}

/// Returns the former images at the faulting address. Returns `None` if this address is the program counter, because a call into unmapped
/// code is reported separately.
pub(super) fn accessed(dump: &CrashDump) -> Option<FormerImages> {
    let is_fault = !dump.sent && [signal_hook::consts::SIGSEGV, signal_hook::consts::SIGBUS].contains(&dump.signal);
    (is_fault && dump.address != dump.pc).then(|| former_images(dump, dump.address)).flatten()
}

fn named(image: &ImageRecord) -> String {
    let file = || image.copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
    image.module.as_ref().map_or_else(file, |(name, _)| name.clone())
}

fn with_generation(image: &ImageRecord) -> String {
    let generation = image.module.as_ref().map(|(_, generation)| format!(", generation {generation}"));
    named(image) + &generation.unwrap_or_default()
}

/// Describes several images that were mapped at one address, one after another.
fn of_several(there: &[&ImageRecord]) -> String {
    let mut generations: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut order = Vec::new();
    for image in there {
        let name = named(image);
        let of_this = generations.entry(name.clone()).or_default();
        if of_this.is_empty() {
            order.push(name);
        }
        of_this.extend(image.module.as_ref().map(|(_, generation)| generation.to_string()));
    }
    let one = |name: &String| match &generations[name][..] {
        [] => name.clone(),
        [generation] => format!("{name}, generation {generation}"),
        several => format!("{name}, generation {}", cut(several, " or ")),
    };
    match &order.iter().map(one).collect::<Vec<_>>()[..] {
        [one] => format!("{one}, the last"),
        several => format!("one of these images: {}; the last", cut(several, "; ")),
    }
}

fn cut(items: &[String], between: &str) -> String {
    let more = items.len().saturating_sub(MOST);
    let joined = items[..items.len() - more].join(between);
    if more == 0 { joined } else { format!("{joined}{between}one of {more} more") }
}

/// Formats the time since an image was unmapped, for example as ` unmapped 3 s ago`.
fn ago(image: &ImageRecord, now: Option<Duration>) -> String {
    match (image.unmapped, now) {
        (None, _) => " being unmapped just then".to_owned(),
        (Some(_), None) => " unmapped before".to_owned(),
        (Some(at), Some(now)) => format!(" unmapped {} ago", duration(now.saturating_sub(at))),
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        1..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::Duration;

    use super::{CrashDump, ImageRecord, accessed, duration, former_images};

    fn image(name: &str, generation: u64, range: Range<u64>, unmapped: Option<u64>) -> ImageRecord {
        ImageRecord {
            copy: format!("/s/{name}.{generation}.so").into(),
            module: Some((name.to_owned(), generation)),
            ranges: vec![range],
            unmapped: unmapped.map(Duration::from_secs),
        }
    }

    fn dump(images: Vec<ImageRecord>) -> CrashDump {
        let (mapped_ranges, time) = (vec![0x1000..0x2000, 0x3000..0x4000], Some(Duration::from_secs(100)));
        CrashDump {
            signal: signal_hook::consts::SIGSEGV,
            pc: 0x1000,
            images,
            mapped_ranges,
            time,
            ..CrashDump::default()
        }
    }

    fn check(images: Vec<ImageRecord>, address: u64, expected: Option<&str>) {
        assert_eq!(former_images(&dump(images), address).map(|former| former.description).as_deref(), expected);
    }

    #[test]
    fn an_unmapped_image_is_reported_with_generation_and_time() {
        let unmapped = || vec![image("cube", 1, 0x7000..0x9000, Some(97)), image("other", 1, 0x9000..0xa000, Some(98))];
        check(unmapped(), 0x8fff, Some("cube, generation 1, unmapped 3 s ago"));
        check(unmapped(), 0x9000, Some("other, generation 1, unmapped 2 s ago"));
        check(unmapped(), 0x6fff, None);
        check(unmapped(), 0xa000, None);
        check(
            vec![image("cube", 1, 0x7000..0x9000, None)],
            0x7000,
            Some("cube, generation 1, being unmapped just then"),
        );
        let library = ImageRecord { module: None, ..image("libx", 9, 0x7000..0x9000, Some(100)) };
        check(vec![library], 0x7000, Some("libx.9.so, unmapped 0 ms ago"));
        let mut untimed = dump(unmapped());
        untimed.time = None;
        assert_eq!(former_images(&untimed, 0x7000).unwrap().description, "cube, generation 1, unmapped before");
    }

    #[test]
    fn several_images_at_an_address_are_all_reported() {
        let cube = |generation, unmapped| image("cube", generation, 0x7000..0x9000, Some(unmapped));
        check(vec![cube(1, 90), cube(2, 95)], 0x7000, Some("cube, generation 2 or 1, the last unmapped 5 s ago"));
        let many = (1..9).map(|generation| cube(generation, 80 + generation)).collect();
        let description = "cube, generation 8 or 7 or 6 or 5 or one of 4 more, the last unmapped 12 s ago";
        check(many, 0x7000, Some(description));
        let other = image("other", 2, 0x8000..0x9000, Some(60));
        let both = || vec![other.clone(), cube(1, 90)];
        let description = "one of these images: cube, generation 1; other, generation 2; the last unmapped 10 s ago";
        check(both(), 0x8000, Some(description));
        assert_eq!(former_images(&dump(both()), 0x8000).unwrap().alone, None);
        assert_eq!(former_images(&dump(both()), 0x7000).unwrap().alone, Some(cube(1, 90)));
        // Uses two images with the same name and generation, because modules of two contexts may be equal in both.
        check(vec![cube(1, 90), cube(1, 95)], 0x7000, Some("cube, generation 1 or 1, the last unmapped 5 s ago"));
    }

    #[test]
    fn remapped_and_unknown_addresses_are_attributed_to_no_image() {
        let cube = || vec![image("cube", 1, 0x7000..0x9000, Some(97))];
        let mut again = dump(cube());
        again.mapped_ranges.push(0x7000..0x8000);
        assert_eq!((former_images(&again, 0x7fff), former_images(&again, 0x8000).is_some()), (None, true));
        let mut unknown = dump(cube());
        unknown.mapped_ranges.clear();
        assert_eq!(former_images(&unknown, 0x7000), None, "the list of what is mapped could not be written");
        let mut old = dump(cube());
        old.forgotten = 7;
        let former = former_images(&old, 0x7000).unwrap();
        let description = "cube, generation 1, unmapped 3 s ago, or one of those that were unmapped much earlier";
        assert_eq!((former.description.as_str(), former.alone), (description, None));
    }

    #[test]
    fn only_a_fault_has_an_address() {
        let mut dump = dump(vec![image("cube", 1, 0x7000..0x9000, Some(97))]);
        dump.address = 0x7008;
        assert!(accessed(&dump).is_some());
        dump.sent = true;
        assert_eq!(accessed(&dump), None, "the address of a signal that was sent is some number");
        (dump.sent, dump.signal) = (false, signal_hook::consts::SIGILL);
        assert_eq!(accessed(&dump), None);
    }

    #[test]
    fn a_time_is_formatted_in_a_suitable_unit() {
        for (millis, expected) in [(0, "0 ms"), (999, "999 ms"), (1000, "1 s"), (119_999, "119 s"), (120_000, "2 min")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
        assert_eq!(duration(Duration::from_secs(7200)), "2 h");
    }
}
