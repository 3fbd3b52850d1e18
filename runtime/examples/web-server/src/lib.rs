//! Routes of the example server. A handler can call a plugin in two ways:
//!
//! * A function of a **Slim** runs on the thread of the handler. The function cannot use objects. Its code can be replaced between two
//!   calls.
//! * An **object** can be used on the game thread only, and its state outlives the code of its class. A handler posts a closure to the game
//!   thread and awaits the answer. The game thread sleeps until a closure is posted.

use std::time::{Duration, Instant};

use alcedo::{Budget, ContextFunction, ObjectHandle, Poster, ReloadReport, Runtime, Value};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Class of the guest book in the plugin `server-handler`.
pub const BOOK: &str = "/Script/Game.Guestbook";

/// Interval at which an idle game thread checks for changed files and for the end of the process.
const POLL: Duration = Duration::from_millis(50);

/// State that the handlers share. Clones refer to the same state.
#[derive(Clone)]
pub struct Handlers {
    render: ContextFunction,
    game: Poster,
}

/// Answer of a handler: the text, or the status and message of an error.
type Answer = Result<String, (StatusCode, String)>;

impl Handlers {
    /// Creates handlers that call `render` of the plugin `reports`, and that access objects through `game`.
    pub fn new(render: ContextFunction, game: Poster) -> Self {
        Self { render, game }
    }

    /// Serves requests from `listener` until `end` completes.
    ///
    /// # Errors
    /// Returns errors of the listener.
    pub async fn serve(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let routes = Router::new().route("/report/{target}", get(report)).route("/guests/{name}", post(sign));
        serve(listener, routes.with_state(self)).with_graceful_shutdown(end).await
    }
}

/// Renders a report on a thread of the server. In a real server, call a slow plugin function in `spawn_blocking` instead.
async fn report(State(handlers): State<Handlers>, Path(target): Path<String>) -> Answer {
    let answer = handlers.render.call(&[Value::Text(target), Value::U32(1)]);
    line(answer.map_err(|error| error.to_string()))
}

async fn sign(State(handlers): State<Handlers>, Path(name): Path<String>) -> Answer {
    let (answer, answered) = oneshot::channel();
    let sign = move |host: &Runtime| {
        // The receiver is dropped if the client has disconnected.
        let _gone = answer.send(signed(host, name));
    };
    let gone = || (StatusCode::SERVICE_UNAVAILABLE, "the server is about to end".to_owned());
    if !handlers.game.post(sign) {
        return Err(gone());
    }
    line(answered.await.map_err(|_| gone())?)
}

fn line(answer: Result<Option<Value>, String>) -> Answer {
    match answer {
        Ok(Some(Value::Text(line))) => Ok(line),
        Ok(other) => Err((StatusCode::INTERNAL_SERVER_ERROR, format!("{other:?} is not a line"))),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error)),
    }
}

fn signed(host: &Runtime, name: String) -> Result<Option<Value>, String> {
    host.objects().call(book(host)?, "sign", &[Value::Text(name)]).map_err(|error| error.to_string())
}

/// Returns the guest book, and creates it if necessary. The book is looked up by name, so it is also found in a world that was saved and
/// loaded.
fn book(host: &Runtime) -> Result<ObjectHandle, String> {
    const NAME: &str = "book";
    if let Some(book) = host.objects().find_in(ObjectHandle::NONE, NAME) {
        return Ok(book);
    }
    let book = host.objects().spawn(BOOK).map_err(|error| error.to_string())?;
    host.objects().rename(book, NAME, ObjectHandle::NONE).map_err(|error| error.to_string())?;
    Ok(book)
}

/// Runs the game thread of a server until `is_over` returns `true`. Sleeps until a handler posts a closure. Calls `on_reload` after every
/// reload.
pub fn run_game_thread(host: &Runtime, is_over: impl Fn() -> bool, on_reload: impl Fn(&ReloadReport)) {
    let mut last = Instant::now();
    while !is_over() {
        host.wait(POLL);
        let now = Instant::now();
        host.tick(Budget::seconds(now.duration_since(last).as_secs_f32()));
        last = now;
        host.take_reloads().iter().for_each(&on_reload);
    }
}
