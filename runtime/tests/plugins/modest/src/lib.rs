//! Test plugin that declares the permission for files. Switches and features select further resources that the plugin uses.

#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod initializer;

#[cfg(not(feature = "nothing"))]
module! { name: "modest", main: started, exit: ended, permissions: [files] }
#[cfg(feature = "nothing")]
module! { name: "modest", main: started, exit: ended, permissions: [] }

fn started() {
    if fixture::on!("thread-in-main") {
        start_thread();
    }
    if fixture::on!("file-in-main") {
        let file = std::fs::read_to_string("/etc/passwd").expect("each Linux has this file");
        assert!(!file.is_empty());
    }
}

fn ended() {
    if fixture::on!("thread-in-exit") {
        start_thread();
    }
}

/// Returns a value that identifies this build.
#[zcall(ex = "modest.tag")]
fn tag() -> u64 {
    fixture::tag()
}

/// Starts a thread and joins the thread.
#[zcall(ex = "modest.start_thread")]
fn start_thread() {
    std::thread::spawn(|| ()).join().expect("an empty thread does not panic");
}

/// Opens a socket. Returns true if the platform allows this.
#[cfg(feature = "network")]
#[zcall(ex = "modest.open_socket")]
fn open_socket() -> bool {
    std::net::UdpSocket::bind(std::net::SocketAddr::from(([127, 0, 0, 1], 0))).is_ok()
}
