//! Logs to a file that a thread writes. The logger is shut down when the module ends. In the row `flexi_logger-leaked`, the logger is left
//! in a static. The row `flexi_logger-flushed` uses a logger whose thread only flushes and cannot be stopped.

use std::thread;
use std::time::Duration;

use crate::local::{self, Kept};

use flexi_logger::{DeferredNow, FileSpec, FlexiLoggerError, Logger, LoggerHandle, WriteMode};

static LOGGER: Kept<LoggerHandle> = Kept::new();

fn line(out: &mut dyn std::io::Write, _now: &mut DeferredNow, record: &log::Record<'_>) -> std::io::Result<()> {
    write!(out, "{}: {}", record.level(), record.args())
}

pub(crate) fn begin() {
    let spec = FileSpec::default().directory(local::path("log")).suppress_timestamp();
    // The global logger is the host's bridge, so the row calls its own logger directly. In the asynchronous mode, a flush
    // interval of zero prevents the thread that flushes.
    let mode = if cfg!(feature = "flexi_logger-flushed") {
        WriteMode::BufferAndFlush
    } else {
        WriteMode::AsyncWith { pool_capa: 50, message_capa: 200, flush_interval: Duration::ZERO }
    };
    let made = Logger::try_with_str("info").and_then(|logger| {
        let logger = logger.log_to_file(spec).write_mode(mode).format(line);
        let (logger, handle) = logger.build()?;
        logger.log(&log::Record::builder().level(log::Level::Info).args(format_args!("a line")).build());
        Ok::<_, FlexiLoggerError>(handle)
    });
    LOGGER.keep(made);
}

pub(crate) fn work() -> String {
    LOGGER.work(|logger| {
        // Waits until the logger's thread has written the line.
        for _ in 0..1000 {
            logger.flush();
            let files = logger.existing_log_files(&flexi_logger::LogfileSelector::default())?;
            let text = files.iter().map(std::fs::read_to_string).collect::<Result<String, _>>();
            if text.is_ok_and(|text| text == "INFO: a line\n") {
                return Ok(true);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok::<_, FlexiLoggerError>(false)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "flexi_logger-leaked")) {
        let _untouched = LOGGER.take().map(|logger| logger.shutdown());
    }
}
