//! Writes the initial files of the corpora after a format change: `cargo run --bin seeds` in the folder `fuzz`.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for (target, name, bytes) in alcedo_fuzz::seeds() {
        let folder = Path::new("corpus").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
