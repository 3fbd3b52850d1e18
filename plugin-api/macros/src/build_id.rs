//! The build id: differs whenever the sources of the crate, the arguments of the compiler or the libraries linked
//! differ, and is the same for the same of all three.

use std::io;
use std::path::{Path, PathBuf};

/// Hashes what this compiler run is made of.
pub(crate) fn compute() -> io::Result<u128> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into()));
    let mut hash = Hash::START;
    let mut files = vec![root.join("Cargo.toml")];
    collect(&root.join("src"), &mut files)?;
    files.sort();
    for file in files {
        // The place of the checkout is no part of the build, the place of a file in it is.
        let name = file.strip_prefix(&root).unwrap_or(&file);
        hash.add(name.as_os_str().as_encoded_bytes());
        hash.add(&std::fs::read(&file)?);
    }
    let args: Vec<String> = std::env::args().collect();
    for arg in &args {
        hash.add(arg.as_bytes());
    }
    for library in libraries(&args) {
        hash.add(&std::fs::read(library)?);
    }
    // Our own words may come in through `option_env!`.
    let mut words: Vec<_> = std::env::vars().filter(|(name, _)| name.starts_with("ALCEDO_")).collect();
    words.sort();
    for (name, value) in words {
        hash.add(name.as_bytes());
        hash.add(value.as_bytes());
    }
    Ok(hash.finish())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The files named by `--extern name=path`.
fn libraries(args: &[String]) -> Vec<&str> {
    let pairs = args.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].as_str());
    let joined = args.iter().filter_map(|arg| arg.strip_prefix("--extern="));
    pairs.chain(joined).filter_map(|word| Some(word.split_once('=')?.1)).collect()
}

/// Two lanes of multiply and rotate over 64-bit words: quick even in a macro that was built without optimisation.
/// It finds mistakes; it is no defence against an attacker.
#[derive(Clone, Copy)]
struct Hash {
    a: u64,
    b: u64,
}

impl Hash {
    const START: Self = Self { a: 0x9e37_79b9_7f4a_7c15, b: 0xc2b2_ae3d_27d4_eb4f };

    fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let (mut a, mut b) = (self.a, self.b);
        for word in words {
            let word = u64::from_le_bytes(*word);
            a = (a ^ word).wrapping_mul(0x0000_0100_0000_01b3_u64 | 1 << 63).rotate_left(29);
            b = (b.wrapping_add(word)).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(37);
        }
        (self.a, self.b) = (a, b);
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    fn word(&mut self, word: u64) {
        self.a = (self.a ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31);
        self.b = self.b.wrapping_add(word).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(33);
    }

    fn finish(mut self) -> u128 {
        let (a, b) = (self.a, self.b);
        self.word(a ^ b.rotate_left(32));
        self.word(b);
        u128::from(self.a) << 64 | u128::from(self.b)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, libraries};

    fn hash(parts: &[&[u8]]) -> u128 {
        let mut hash = Hash::START;
        for part in parts {
            hash.add(part);
        }
        hash.finish()
    }

    #[test]
    fn any_changed_bit_and_any_moved_border_changes_the_id() {
        let text = *b"fn main() { let x = 1; }";
        let id = hash(&[&text]);
        for bit in 0..text.len() * 8 {
            let mut changed = text;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(hash(&[&changed]), id, "bit {bit}");
        }
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_eq!(hash(&[&text]), id);
    }

    #[test]
    fn libraries_are_found_in_both_spellings() {
        let args = ["--extern", "a=/x/liba.rlib", "--extern=b=/x/libb.rmeta", "--extern", "proc_macro"];
        assert_eq!(libraries(&args.map(str::to_owned)), ["/x/liba.rlib", "/x/libb.rmeta"]);
    }
}
