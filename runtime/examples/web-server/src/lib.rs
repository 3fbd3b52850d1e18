//! What the server of this example answers, and who computes it. There are two ways from a handler into a plugin:
//!
//! * A function of a **Slim** is called right where the handler runs, on any thread. It has no objects; its code can be
//!   replaced between any two calls.
//! * An **object** lives on the game thread, and its state outlives the code of its class. A handler posts a closure there
//!   and awaits the answer; the game thread sleeps until something is posted.

use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, ContextFunction, ObjectHandle, Poster, Reload, Runtime, Value};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The class of the book that guests sign, of the plugin `server-handler`.
pub const BOOK: &str = "/Script/Game.Guestbook";

/// A game thread without work looks this often whether a file has changed or the process is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What handlers share. A clone is another handle to the same.
#[derive(Clone)]
pub struct Handlers {
    render: ContextFunction,
    game: Poster,
}

/// What a handler answers: a line, or why there is none.
type Answer = Result<String, (StatusCode, String)>;

impl Handlers {
    /// Handlers that call `render` of the plugin `reports`, and objects by way of `game`.
    pub fn new(render: ContextFunction, game: Poster) -> Self {
        Self { render, game }
    }

    /// Answers requests that come to `listener` until `end` is there.
    ///
    /// # Errors
    /// What the system says of the listener.
    pub async fn serve(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let routes = Router::new().route("/report/{whom}", get(report)).route("/guests/{name}", post(sign));
        serve(listener, routes.with_state(self)).with_graceful_shutdown(end).await
    }
}

/// Runs on the thread of the server: a plugin function that takes long belongs into `spawn_blocking`.
async fn report(State(handlers): State<Handlers>, Path(whom): Path<String>) -> Answer {
    let answer = handlers.render.call(&[Value::Text(whom), Value::U32(1)]);
    line(answer.map_err(|error| error.to_string()))
}

async fn sign(State(handlers): State<Handlers>, Path(name): Path<String>) -> Answer {
    let (answer, answered) = oneshot::channel();
    let sign = move |host: &Runtime| {
        // Nobody waits any more where the client has gone.
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
        Ok(other) => Err((StatusCode::INTERNAL_SERVER_ERROR, format!("{other:?} is no line"))),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error)),
    }
}

fn signed(host: &Runtime, name: String) -> Result<Option<Value>, String> {
    host.objects().call(book(host)?, "sign", &[Value::Text(name)]).map_err(|error| error.to_string())
}

/// The book, made where there is none. By name, so that it is the same one in a world that was saved and loaded.
fn book(host: &Runtime) -> Result<ObjectHandle, String> {
    const NAME: &str = "book";
    if let Some(book) = host.objects().find_in(ObjectHandle::NONE, NAME) {
        return Ok(book);
    }
    let book = host.objects().spawn(BOOK).map_err(|error| error.to_string())?;
    host.objects().rename(book, NAME, ObjectHandle::NONE).map_err(|error| error.to_string())?;
    Ok(book)
}

/// The game thread of a server: it sleeps until a handler has posted something, and goes on until `is_over`. `told` hears
/// every reload.
pub fn run_game_thread(host: &Runtime, is_over: impl Fn() -> bool, told: impl Fn(&Reload)) {
    let mut last = Instant::now();
    while !is_over() {
        host.wait(LOOK);
        let now = Instant::now();
        host.tick(Budget::seconds(now.duration_since(last).as_secs_f32()));
        last = now;
        host.take_reloads().iter().for_each(&told);
    }
}
