//! Tests the module's hook of `vfork`.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![expect(unsafe_code, reason = "starts a process and waits for it")]

#[test]
fn vfork_comes_back_in_both_processes() {
    for status in [0, 7] {
        // SAFETY: the child exits immediately.
        let pid = unsafe { alcedo_rt::hooks::vfork() };
        if pid == 0 {
            // SAFETY: `_exit` ends the child without running code of the parent.
            unsafe { libc::_exit(status) };
        }
        assert!(pid > 0);
        let mut ended = 0;
        // SAFETY: the process id is that of a child of this process.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut ended, 0) }, pid);
        assert!(libc::WIFEXITED(ended) && libc::WEXITSTATUS(ended) == status);
    }
}
