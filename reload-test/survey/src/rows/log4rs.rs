//! Creates a logger with a file from a configuration, in addition to the host's logger. The logger is stored in a static, like a global
//! logger.

use crate::local::{self, Kept};

use log::{Level, LevelFilter, Log as _, Record};
use log4rs::Logger;
use log4rs::append::file::FileAppender;
use log4rs::config::{Appender, Config, Root};

static LOGGER: Kept<(Logger, std::path::PathBuf)> = Kept::new();

fn logger() -> Result<(Logger, std::path::PathBuf), Box<dyn std::error::Error>> {
    let path = local::path("log4rs");
    let file = FileAppender::builder().build(&path)?;
    let config = Config::builder().appender(Appender::builder().build("file", Box::new(file)));
    let config = config.build(Root::builder().appender("file").build(LevelFilter::Info))?;
    Ok((Logger::new(config), path))
}

pub(crate) fn begin() {
    LOGGER.keep(logger());
}

pub(crate) fn work() -> String {
    LOGGER.work(|(logger, path)| {
        logger.log(&Record::builder().level(Level::Info).args(format_args!("a line")).build());
        logger.flush();
        Ok::<_, std::io::Error>(std::fs::read_to_string(path)?.contains("a line"))
    })
}

pub(crate) fn end() {}
