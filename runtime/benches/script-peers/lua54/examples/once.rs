//! Runs the code of one benchmark N times, for tools that count instructions: `valgrind --tool=callgrind once fib 20`. The difference
//! between the counts of two runs excludes the setup.

use script_peers_lua54::alcedo::Stage;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(Ok(n))) = (arguments.next(), arguments.next().map(|number| number.parse::<i32>())) else {
        eprintln!("once (looping|fib|virtual_fib|property|native_call|vectors) N");
        std::process::exit(2);
    };
    println!("{:?}", Stage::new().call(&name, n));
}
