//! The module's own `vfork`.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![expect(unsafe_code, reason = "starts a process and waits for it")]

#[test]
fn vfork_comes_back_in_both_processes() {
    for status in [0, 7] {
        // SAFETY: the child exits immediately.
        let pid = unsafe { alcedo_rt::hooks::vfork() };
        if pid == 0 {
            // SAFETY: ends the child without any of the parent's code.
            unsafe { libc::_exit(status) };
        }
        assert!(pid > 0);
        let mut ended = 0;
        // SAFETY: waits for our own child.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut ended, 0) }, pid);
        assert!(libc::WIFEXITED(ended) && libc::WEXITSTATUS(ended) == status);
    }
}
