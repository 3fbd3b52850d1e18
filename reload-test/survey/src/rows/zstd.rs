//! Compresses a frame with two threads of the C library. The frame is finished when the module ends. In the row `zstd-leaked`, the frame is
//! left open in a static.

use std::io::{self, Write as _};

use crate::local::Kept;

use zstd::stream::write::Encoder;

static FRAME: Kept<Encoder<'static, Vec<u8>>> = Kept::new();

pub(crate) fn begin() {
    FRAME.keep(Encoder::new(Vec::new(), 3).and_then(|mut frame| {
        frame.multithread(2)?;
        Ok(frame)
    }));
}

pub(crate) fn work() -> String {
    FRAME.work(|frame| {
        let text = b"one, two, three, and so on ".repeat(10_000);
        frame.write_all(&text)?;
        frame.flush()?;
        let whole = zstd::encode_all(&*text, 1)?;
        Ok::<_, io::Error>(zstd::decode_all(&*whole)? == text && whole.len() < text.len() / 10)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "zstd-leaked")) {
        drop(FRAME.take().map(Encoder::finish));
    }
}
