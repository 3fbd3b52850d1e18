//! Writes reports of panics with their call stacks, in the format of crash reports. The thread continues afterwards. A panic hook calls
//! this code before unwinding, while the stack is complete. The panicking code may hold any lock. Therefore this code neither blocks on
//! locks nor allocates.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};

use super::c::kernel::{clock, registers};
use super::crash::{Buffer, write_all, write_maps, write_stack};
use super::{locals, lock};
use crate::notes;
use crate::panic_locations::{At, Slots};

/// Maximum number of bytes of a message that are written.
const LONGEST_MESSAGE: usize = 1024;

static IS_REPORTED: AtomicBool = AtomicBool::new(false);
/// State of the writer, locked while a panic is written. A panic that finds the state locked is not reported.
static WRITING: Mutex<Writing> = Mutex::new(Writing { slots: Slots::new(), files: None });

struct Writing {
    slots: Slots,
    files: Option<Files>,
}

struct Files {
    folder: File,
    list: File,
}

/// Makes [`write_panic`] write to `folder` and record its reports in `list`.
pub(crate) fn report_panics(folder: File, list: File) {
    lock(&WRITING).files = Some(Files { folder, list });
    IS_REPORTED.store(true, Ordering::Release);
}

pub(crate) fn are_panics_reported() -> bool {
    IS_REPORTED.load(Ordering::Acquire)
}

/// Writes a report with the call stack of this thread, if reports are enabled and a report slot is free.
///
/// If a thread-local panics while it is dropped, prints the label of its image to standard error. The standard library aborts the process
/// afterwards.
// The function must not be inlined, because the registers that it reads must belong to a frame that is active while the stack is written.
#[inline(never)]
pub(crate) fn write_panic(at: &At<'_>, message: &str) {
    locals::with_dropped_here(|image| {
        let mut buffer = Buffer::default();
        buffer.push(b"alcedo: a thread-local of ");
        buffer.push(image.as_bytes());
        buffer.push(b" panics while it is dropped. Unless its `Drop` catches that, the standard library aborts the process now.\nplace ");
        buffer.push_line(at.file.as_bytes());
        buffer.line("line", at.line);
        buffer.thread_name();
        buffer.write(std::io::stderr().as_fd());
    });
    if !are_panics_reported() {
        return;
    }
    let Ok(mut writing) = WRITING.try_lock() else { return };
    let Writing { slots, files: Some(Files { folder, list: listed }) } = &mut *writing else { return };
    let Some((slot, number)) = slots.claim(at.number(notes::count()), clock()) else { return };
    let folder = folder.as_fd();
    let [pc, sp, fp, lr] = registers();
    let (Some(crash), Some(maps), Some(stack)) =
        (create(folder, "crash", slot), create(folder, "maps", slot), create(folder, "stack", slot))
    else {
        return;
    };
    let mut buffer = Buffer::default();
    buffer.line("number", number);
    for (name, word) in [("pc", pc), ("sp", sp), ("fp", fp), ("lr", lr)] {
        buffer.line(name, format_args!("{word:x}"));
    }
    buffer.thread_name();
    buffer.line("stack", format_args!("{:x}", write_stack(stack.as_fd(), sp)));
    buffer.push(b"place ");
    buffer.write(crash.as_fd());
    write_all(crash.as_fd(), at.file.as_bytes());
    let mut end = Buffer::default();
    end.push(b"\n");
    end.line("line", at.line);
    end.line("column", at.column);
    end.push(b"message ");
    end.write(crash.as_fd());
    // Writes the message as one line, so that no part of the message resembles a different line of the file.
    for line in message.as_bytes()[..message.len().min(LONGEST_MESSAGE)].split(|byte| *byte == b'\n') {
        write_all(crash.as_fd(), line);
        write_all(crash.as_fd(), b" ");
    }
    write_all(crash.as_fd(), b"\nend\n");
    let _all = write_maps(maps.as_fd());
    // Adds the report to the list last, when the report is complete.
    let mut list = Buffer::default();
    list.line("panic", slot);
    list.write(listed.as_fd());
}

fn create(folder: BorrowedFd<'_>, what: &str, slot: usize) -> Option<OwnedFd> {
    let mut name = [0_u8; 16];
    write!(&mut name[..], "{what}-{slot:02}").ok()?;
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).ok()
}
