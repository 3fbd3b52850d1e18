//! Blocks of the C heap that hold bytes and no addresses, though variables of the C library lead to them: buffers of
//! streams and texts of the environment. The C library takes them without filling them, so addresses of whoever had the
//! block before stand where nothing was written yet.
#![expect(unsafe_code, reason = "asks for a variable of the C library by its name")]

use std::collections::HashSet;

use super::super::{environment, peek};
use super::WORD;

/// A guard against rows without an end.
const MOST_STREAMS: usize = 65_536;

/// Where a stream keeps the address of its buffer, and that of the next stream, in words: the layout that the C library
/// has published once and cannot change.
const BUFFER: usize = 7;
const NEXT: usize = 13;

/// Their addresses.
pub(super) fn all() -> HashSet<usize> {
    buffers().chain(environment::texts()).collect()
}

fn buffers() -> impl Iterator<Item = usize> {
    // SAFETY: the name is a C string.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_IO_list_all".as_ptr()) };
    let next = |place: usize| peek::word(place).filter(|stream| *stream != 0);
    let streams = std::iter::successors(next(first.addr()), move |stream| next(stream.wrapping_add(NEXT * WORD)));
    streams.take(MOST_STREAMS).filter_map(move |stream| next(stream.wrapping_add(BUFFER * WORD)))
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn a_buffer_of_a_stream_is_told_and_the_stream_is_not() {
        // SAFETY: two C strings.
        let stream = unsafe { libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr()) };
        let buffer: &'static mut [libc::c_char] = vec![0; 4096].leak();
        let address = buffer.as_ptr().addr();
        // SAFETY: the stream is open, and the buffer stays where it is.
        assert_eq!(unsafe { libc::setvbuf(stream, buffer.as_mut_ptr(), libc::_IOFBF, buffer.len()) }, 0);
        let told = all();
        assert!(told.contains(&address));
        assert!(!told.contains(&stream.addr()));
        // SAFETY: it is open.
        unsafe { libc::fclose(stream) };
        assert!(!all().contains(&address));
    }
}
