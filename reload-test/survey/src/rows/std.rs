//! Uses only the standard library: output, thread-locals, threads, maps, a megabyte in a static.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, JoinHandle};

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}
static MEGABYTE: OnceLock<Vec<u8>> = OnceLock::new();
static FINISHED: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

pub(crate) fn begin() {
    MEGABYTE.get_or_init(|| vec![1; 1 << 20]);
    let finished = thread::spawn(|| LINES.with_borrow_mut(|lines| lines.push("a thread".to_owned())));
    *FINISHED.lock().expect("no thread panics while holding the lock") = Some(finished);
}

pub(crate) fn work() -> String {
    println!("a line of the survey");
    let name = thread::current().name().map(str::to_owned);
    LINES.with_borrow_mut(|lines| lines.push(format!("{name:?}")));
    let map: HashMap<_, _> = (0..100).map(|number| (number, number.to_string())).collect();
    let sum: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| map.values().map(String::len).sum::<usize>())).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    });
    if sum == 380 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {}
