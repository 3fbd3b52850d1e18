//! Maps a file and anonymous memory. Both mappings are unmapped when the module ends. In the row `memmap2-leaked`, they are left in a
//! static.
#![allow(unsafe_code, reason = "mapping a file is unsafe, because other processes may write to it")]

use std::io;

use crate::local::{self, Kept};

use memmap2::{Mmap, MmapMut};

static MAPS: Kept<(Mmap, MmapMut)> = Kept::new();

fn map() -> io::Result<(Mmap, MmapMut)> {
    let path = local::path("map");
    std::fs::write(&path, vec![7; 1 << 20])?;
    let file = std::fs::File::open(&path)?;
    std::fs::remove_file(&path)?;
    // SAFETY: the file is deleted, so no other code can open it.
    Ok((unsafe { Mmap::map(&file) }?, MmapMut::map_anon(1 << 20)?))
}

pub(crate) fn begin() {
    MAPS.keep(map());
}

pub(crate) fn work() -> String {
    MAPS.work(|(file, memory)| {
        memory.fill(3);
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        Ok::<_, ()>((sum(file), sum(memory)) == (7 << 20, 3 << 20))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "memmap2-leaked")) {
        drop(MAPS.take());
    }
}
