//! Runs what a benchmark runs so many times, for tools that count instructions:
//! `valgrind --tool=callgrind once fib 20`. Take the difference of two numbers: what comes before is in both.

use script_peers_lua54::alcedo::Stage;

fn main() {
    let mut words = std::env::args().skip(1);
    let (Some(name), Some(Ok(n))) = (words.next(), words.next().map(|word| word.parse::<i32>())) else {
        eprintln!("once (looping|fib|virtual_fib|property|native_call|vectors) N");
        std::process::exit(2);
    };
    println!("{:?}", Stage::new().call(&name, n));
}
