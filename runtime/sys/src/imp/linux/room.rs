//! Selects the address range for the next image, in an area that contains no mapping and contained no earlier image. Memory that was not
//! cleared contains stale addresses of old images. If a new image were mapped at the address of an old image, these stale words would
//! resemble references to the new image. Moreover, a late call of an address in an old image should fault and be reported, instead of
//! running code of a new image.
//!
//! Free gaps above the range are reserved only while the loader searches for an address, so that the loader does not use these gaps. The
//! reservation is not permanent, because debugging tools may map the addresses of a former plugin to detect late writes. While several
//! threads load images, the reservation lasts until the last thread has loaded its image. During the reservation, but at most for
//! [`PATIENCE`], no image is unmapped, because the loader could use the freed addresses. A thread that unmaps an image would
//! also wait for the loader's own lock.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::c::loader;
use super::c::pages::Reserved;
use super::c::peek::PAGE;
use super::lock;
use super::proc::Maps;

/// Distance from the mappings of the process down to the first image, in a large address space. The system assigns addresses top-down, so
/// new mappings stay above the images.
const DISTANCE: usize = 1 << 40;

/// Minimum width of a gap between two areas. Allocators and sanitizers have their own, distant areas.
const WIDEST: usize = 1 << 34;

const SMALLEST: usize = 4 * PAGE;

/// Time after which a thread stops waiting for other threads. Code that runs while an image is loaded or unmapped may itself load or unmap
/// an image, and may then wait for its own thread.
const PATIENCE: Duration = Duration::from_secs(1);

static ROOMS: Mutex<Rooms> = Mutex::new(Rooms { next: 0, open: 0, unmapping: 0, reserved: Vec::new() });
static ENDED: Condvar = Condvar::new();

struct Rooms {
    /// Number of the page above the range for the next image. Zero before the first image. Stored as a page number, because an address
    /// would resemble a reference in a memory scan.
    next: usize,
    /// Number of images that are being loaded.
    open: usize,
    /// Number of images that are being unmapped.
    unmapping: usize,
    /// Reserved ranges, which are released when the last room closes.
    reserved: Vec<Reserved>,
}

/// Waits until `is_busy` is false, at most for [`PATIENCE`].
fn rooms(is_busy: fn(&mut Rooms) -> bool) -> MutexGuard<'static, Rooms> {
    let waited = ENDED.wait_timeout_while(lock(&ROOMS), PATIENCE, is_busy);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Permission to unmap an image. Loads of images wait until it is dropped, at most for [`PATIENCE`].
pub(super) struct Unmapping(());

impl Unmapping {
    /// Waits until no image is being loaded.
    pub(super) fn begin() -> Self {
        rooms(|rooms| rooms.open > 0).unmapping += 1;
        Self(())
    }
}

impl Drop for Unmapping {
    fn drop(&mut self) {
        lock(&ROOMS).unmapping -= 1;
        ENDED.notify_all();
    }
}

/// Range for an image that is being loaded. Dropping the room ends its reservation.
pub(super) struct Room {
    end: usize,
}

impl Room {
    /// Waits until no image is being unmapped, selects a range for the next image, and reserves the gaps above the range. If the system
    /// lists no mappings or rejects the reservation, the loader may select any address for the image.
    pub(super) fn find() -> Self {
        let mut rooms = rooms(|rooms| rooms.unmapping > 0);
        // Considers only the mappings below the stack of the program's first thread, because this stack may grow.
        let maps = Maps::read_short();
        let all = maps.iter().flat_map(Maps::all).take_while(|mapped| mapped.name != b"[stack]");
        let mapped: Vec<_> = all.map(|mapped| mapped.range).collect();
        // Places the image below mappings that were created since the last image.
        let (end, gaps) = search(&mapped, (libc::mmap as *const ()).addr(), lowest(&mapped, rooms.next * PAGE));
        if rooms.next == 0 {
            // Makes other threads that now load their first image use this area, too.
            rooms.next = end / PAGE;
        }
        rooms.open += 1;
        rooms.reserved.extend(gaps.into_iter().filter_map(Reserved::at));
        Self { end }
    }
}

impl Drop for Room {
    /// Ends the reservation. The next image is mapped below all segments that the loader has mapped in the range of this room.
    fn drop(&mut self) {
        let mut mapped = loader::all_segments();
        mapped.sort_by_key(|segment| segment.start);
        let mut rooms = lock(&ROOMS);
        rooms.next = following(rooms.next * PAGE, lowest(&mapped, self.end)) / PAGE;
        rooms.open -= 1;
        if rooms.open == 0 {
            // Also frees the memory of the list, because its addresses would resemble references in a memory scan.
            rooms.reserved = Vec::new();
            ENDED.notify_all();
        }
    }
}

/// Returns the end of the range for the next image, and the gaps above this end, up to the last mapping of the area around `anchor`. The
/// end is `next` if `next` is nonzero and below the area, and if there is enough space below `next`. Returns zero and no gaps if no mapping
/// contains `anchor`.
fn search(mapped: &[Range<usize>], anchor: usize, next: usize) -> (usize, Vec<Range<usize>>) {
    let is_close = |lower: &Range<usize>, upper: &Range<usize>| upper.start.saturating_sub(lower.end) < WIDEST;
    let area = mapped.chunk_by(is_close).find(|row| row.iter().any(|range| range.contains(&anchor)));
    let Some((first, last)) = area.and_then(|row| row.first().zip(row.last())) else { return (0, Vec::new()) };
    let below = |end: usize| mapped.iter().rev().find(|range| range.end <= end).map_or(0, |range| range.end);
    // While other threads have reserved the gaps above `next`, the lowest range of the area starts at `next`.
    let has_room = next != 0 && next <= first.start && next - below(next) >= WIDEST;
    // A multiple of `WIDEST` is aligned to pages of every size.
    let distance = DISTANCE.min(first.start / 2 / WIDEST * WIDEST);
    let end = if has_room { next } else { first.start - distance };
    let within = || mapped.iter().filter(|range| range.end > end && range.end <= last.end);
    let ends = std::iter::once(end).chain(within().map(|range| range.end));
    let gaps = ends.zip(within().map(|range| range.start)).map(|(end, start)| end..start);
    (end, gaps.filter(|gap| gap.end.saturating_sub(gap.start) >= SMALLEST).collect())
}

/// Returns the start of the lowest mapping in the area that ends at `end`, or `end`.
fn lowest(mapped: &[Range<usize>], end: usize) -> usize {
    let below = mapped.iter().rev().filter(|range| range.end <= end);
    below.fold(end, |lowest, range| if lowest - range.end < WIDEST { range.start } else { lowest })
}

/// Returns the end of the range for the next image, after an image was mapped at `start`. Another thread may have mapped an image below
/// `start`. The addresses of this image are not reused, even if the image is already unmapped. `start` is zero for an image without a
/// selected range.
fn following(next: usize, start: usize) -> usize {
    if start == 0 || next < start && start - next < WIDEST { next } else { start }
}

#[cfg(test)]
mod tests {
    use super::{DISTANCE, PAGE, WIDEST, following, lowest, search};
    use std::ops::Range;

    const BASE: usize = 0x7f00_0000_0000;

    fn pages(range: Range<usize>) -> Range<usize> {
        BASE + range.start * PAGE..BASE + range.end * PAGE
    }

    #[test]
    fn the_first_room_ends_far_below_the_mappings_around_the_c_library() {
        let heap = 0x5500_0000_0000..0x5500_0010_0000;
        let mapped = [heap.clone(), pages(100..110), pages(112..120), pages(150..160)];
        let end = BASE + 100 * PAGE - DISTANCE;
        let (found, gaps) = search(&mapped, BASE + 113 * PAGE, 0);
        assert_eq!((found, gaps), (end, vec![end..BASE + 100 * PAGE, pages(120..150)]));
        assert_eq!(lowest(&mapped, end), end);
        let image = end - 20 * PAGE..end - 5 * PAGE;
        assert_eq!(lowest(&[heap, image.clone(), pages(100..110)], end), image.start);
    }

    #[test]
    fn the_next_room_is_below_the_last_even_if_freed() {
        let mapped = [pages(100..110), pages(120..130)];
        let next = BASE + 100 * PAGE - DISTANCE - 20 * PAGE;
        let gaps = vec![next..BASE + 100 * PAGE, pages(110..120)];
        assert_eq!(search(&mapped, BASE + 100 * PAGE, next), (next, gaps));
    }

    #[test]
    fn an_exhausted_room_restarts_at_the_top() {
        let mapped = [BASE - DISTANCE - 2 * WIDEST..BASE - DISTANCE - 2 * WIDEST + PAGE, pages(100..110)];
        let (end, _) = search(&mapped, BASE + 100 * PAGE, BASE - DISTANCE - WIDEST - WIDEST / 2);
        assert_eq!(end, BASE + 100 * PAGE - DISTANCE);
    }

    #[test]
    fn the_first_room_is_in_the_middle_of_a_small_address_space() {
        let (top, middle) = (0x7f_8000_1000, 0x43_8000_1000);
        let (libraries, gap) = (top..top + 4 * PAGE, middle..top);
        assert_eq!(search(std::slice::from_ref(&libraries), top, 0), (middle, vec![gap]));
    }

    #[test]
    fn two_threads_use_one_area() {
        let next = BASE - DISTANCE;
        let mapped = [next..BASE + 100 * PAGE, pages(100..110)];
        assert_eq!(search(&mapped, BASE + 100 * PAGE, next), (next, vec![]));
    }

    #[test]
    fn addresses_are_not_reserved_without_a_mapping_list() {
        assert_eq!(search(&[], BASE, BASE), (0, vec![]));
    }

    #[test]
    fn an_image_of_another_thread_that_is_gone_leaves_its_range_unused() {
        assert_eq!(following(BASE - 4 * PAGE, BASE - 2 * PAGE), BASE - 4 * PAGE);
        assert_eq!(following(BASE, BASE - 2 * PAGE), BASE - 2 * PAGE);
        assert_eq!(following(0, BASE), BASE, "the first image");
        assert_eq!(following(BASE - 2 * WIDEST, BASE), BASE, "another area");
    }

    #[test]
    fn an_image_without_a_range_keeps_earlier_addresses_unused() {
        let (end, _) = search(&[], BASE, BASE);
        assert_eq!(following(BASE - 4 * PAGE, lowest(&[pages(0..9)], end)), BASE - 4 * PAGE);
    }
}
