//! Hooks of functions by which the C library makes blocks of its heap for its caller to free: the platform makes them, and the
//! host is told, so that it counts and frees them as those of `malloc`.

use core::ffi::{c_char, c_int, c_void};

makers! {
    strdup(text: *const c_char);
    strndup(text: *const c_char, most: usize);
    realpath(path: *const c_char, place: *mut c_char) if place.is_null();
    canonicalize_file_name(path: *const c_char);
    getcwd(place: *mut c_char, room: usize) if place.is_null();
    get_current_dir_name();
}

// The second is what C code calls that is compiled with checks.
printers! {
    vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void; text);
    __vasprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char, arguments: *mut c_void; text);
}

readers! {
    getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void; line);
    getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void; line);
}
