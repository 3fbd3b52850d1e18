//! Uses a separate logger directly, since `log`'s global logger is the bridge to the host.

use log::Log as _;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let logger = env_logger::Builder::new()
        .filter_level(log::LevelFilter::Info)
        .target(env_logger::Target::Pipe(Box::new(std::io::sink())))
        .build();
    logger.log(&log::Record::builder().level(log::Level::Info).args(format_args!("to the sink")).build());
    log::info!("to the host");
    "ok".to_owned()
}

pub(crate) fn end() {}
