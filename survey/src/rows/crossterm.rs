//! A terminal on a pty, in raw mode, with a key typed into it. The mode is put back when the module ends, or left; what
//! waits for events has no end either way.
#![allow(unsafe_code, reason = "makes a pty and puts it where the terminal of a program is")]

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::time::Duration;

use crate::local::Kept;

use crossterm::event::{Event, KeyCode};
use crossterm::{cursor, execute, terminal};

/// The far end of the terminal, and what was the input before.
static FAR_END: Kept<(File, File)> = Kept::new();

fn open() -> io::Result<(File, File)> {
    let (mut far, mut near) = (-1, -1);
    let size = libc::winsize { ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both places are ours and live, and neither name nor mode is wanted.
    let made = unsafe { libc::openpty(&mut far, &mut near, std::ptr::null_mut(), std::ptr::null(), &size) };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `openpty` made both, and nobody else has them.
    let (far, near) = unsafe { (File::from_raw_fd(far), File::from_raw_fd(near)) };
    // SAFETY: no pointer is handed over.
    let before = unsafe { libc::dup(0) };
    // SAFETY: as above; the standard input is for the program to direct.
    if before < 0 || unsafe { libc::dup2(near.as_raw_fd(), 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `dup` made it just now.
    Ok((far, unsafe { File::from_raw_fd(before) }))
}

pub(crate) fn begin() {
    FAR_END.keep(open().and_then(|far_end| {
        terminal::enable_raw_mode()?;
        Ok(far_end)
    }));
}

pub(crate) fn work() -> String {
    FAR_END.work(|(far_end, _before)| {
        execute!(io::sink(), terminal::EnterAlternateScreen, cursor::Hide)?;
        far_end.write_all(b"a")?;
        if !crossterm::event::poll(Duration::from_secs(5))? {
            return Ok(false);
        }
        let Event::Key(key) = crossterm::event::read()? else { return Ok(false) };
        Ok::<_, io::Error>(key.code == KeyCode::Char('a') && terminal::is_raw_mode_enabled()?)
    })
}

pub(crate) fn end() {
    if cfg!(feature = "crossterm-leaked") {
        return;
    }
    let _unsupported = terminal::disable_raw_mode();
    if let Some((_far_end, before)) = FAR_END.take() {
        // SAFETY: no pointer is handed over.
        unsafe { libc::dup2(before.as_raw_fd(), 0) };
    }
}
