//! Tests that `alcedo keygen` leaves no incomplete files.

use std::fs;
use std::process::Command;

#[test]
fn an_incomplete_key_does_not_prevent_the_next_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("release.key");
    let keygen = |limit: &str| {
        let script = format!("trap '' XFSZ; {limit}; exec \"$0\" keygen \"$1\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_alcedo")]).arg(&path).output().unwrap()
    };
    // No file can receive a byte, like on a full disk.
    let output = keygen("ulimit -f 0");
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{output:?}");
    let output = keygen(":");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
