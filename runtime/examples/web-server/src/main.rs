//! A web server whose handlers are plugin functions that can be replaced while the server runs.
//!
//! `cargo run -p web-server -- libreports.so libserver_handler.so` starts the server. `curl localhost:8080/report/me` and
//! `curl -X POST localhost:8080/guests/me` send requests.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;

use alcedo::{Runtime, SlimWatch, printable};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use web_server::{Handlers, run_game_thread};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    // The host first loads new code in a canary process. In a canary process, this call does not return.
    alcedo::canary::run_if_child();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(reports), Some(handler)) = (arguments.next(), arguments.next()) else {
        return Err("usage: web-server path/to/libreports.so path/to/libserver_handler.so [address]".into());
    };
    let address: SocketAddr = arguments.next().as_deref().unwrap_or("127.0.0.1:8080").parse()?;
    let (reports, handler) = (std::path::absolute(reports)?, std::path::absolute(handler)?);

    // The module `server-handler` uses objects, so it is loaded into the Master. This thread becomes the game thread.
    let host = Runtime::builder().package("Game").build()?;
    host.create_master(&[handler])?;
    host.watch()?;

    // The module `reports` uses no objects, so it is loaded into a Slim, which any thread may call or replace.
    let slim = host.contexts().create_slim("reports")?;
    slim.load_path(&reports)?;
    let _watch = SlimWatch::start(&slim, &reports, |outcome| match outcome {
        Ok(old) => eprintln!("[reports] new code answers; {}", old.subject()),
        Err(error) => eprintln!("[reports] the old code stays in use: {}", printable(&error.to_string())),
    })?;

    let handlers = Handlers::new(slim.function("Report", "render", "String, u32 -> String")?, host.post_handle());
    let server = thread::spawn(move || {
        Builder::new_multi_thread().enable_all().build().and_then(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::bind(address).await?;
                eprintln!("listening on {}; Ctrl-C ends it", listener.local_addr()?);
                handlers.serve(listener, async { drop(tokio::signal::ctrl_c().await) }).await
            })
        })
    });
    // Also ends if the thread of the server panics.
    run_game_thread(&host, || server.is_finished(), |report| eprintln!("{}", printable(&report.to_string())));
    server.join().map_err(|_| "the server's thread panicked")??;
    Ok(host.shutdown().into_result()?)
}
