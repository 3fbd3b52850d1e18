//! Queries information about the system and this process.

use std::error::Error;

use crate::local::report;

use sysinfo::{ProcessesToUpdate, System};

fn query() -> Result<bool, Box<dyn Error>> {
    let mut system = System::new()?;
    system.refresh_memory();
    let own = sysinfo::get_current_pid()?;
    system.refresh_processes(ProcessesToUpdate::Some(&[own]), true);
    let memory = system.process(own).map_or(0, |process| process.memory());
    Ok(memory > 0 && system.total_memory() > memory)
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(query())
}

pub(crate) fn end() {}
