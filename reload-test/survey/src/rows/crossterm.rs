//! Sets a pty to raw mode, and reads a key from it. The row `crossterm` restores the mode in each call. The row `crossterm-leaked` does
//! not. In both rows, the crate's event source cannot be closed. `exit` cannot restore the mode, since the next generation starts before
//! `exit` is called.
#![allow(unsafe_code, reason = "makes a pty and puts it where the terminal of a program is")]

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::time::Duration;

use crate::local::Kept;

use crossterm::event::{Event, KeyCode};
use crossterm::{cursor, execute, terminal};

/// Controlling side of the pty.
static FAR_END: Kept<File> = Kept::new();

fn open() -> io::Result<File> {
    let (mut far, mut near) = (-1, -1);
    let size = libc::winsize { ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both descriptors are writable, and name and mode are not requested.
    let made = unsafe { libc::openpty(&mut far, &mut near, std::ptr::null_mut(), std::ptr::null(), &size) };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `openpty` created both descriptors, which have no other owner.
    let (far, near) = unsafe { (File::from_raw_fd(far), File::from_raw_fd(near)) };
    // SAFETY: passes no pointer; the program may redirect its standard input.
    if unsafe { libc::dup2(near.as_raw_fd(), 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(far)
}

pub(crate) fn begin() {
    FAR_END.keep(open());
}

pub(crate) fn work() -> String {
    FAR_END.work(|far_end| {
        terminal::enable_raw_mode()?;
        execute!(io::sink(), terminal::EnterAlternateScreen, cursor::Hide)?;
        far_end.write_all(b"a")?;
        if !crossterm::event::poll(Duration::from_secs(5))? {
            return Ok(false);
        }
        let Event::Key(key) = crossterm::event::read()? else { return Ok(false) };
        let is_raw = terminal::is_raw_mode_enabled()?;
        if cfg!(not(feature = "crossterm-leaked")) {
            terminal::disable_raw_mode()?;
        }
        Ok::<_, io::Error>(key.code == KeyCode::Char('a') && is_raw)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "crossterm-leaked")) {
        drop(FAR_END.take());
    }
}
