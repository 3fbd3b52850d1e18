//! Prints progress to standard error: a bar on a terminal, or a line per tenth of the run in a log. Standard output is reserved for the
//! summary.

use indicatif::{ProgressBar, ProgressStyle};

/// Displays the number of completed reloads. The bar is hidden if standard error is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    all: u64,
}

impl Progress {
    /// Starts to display the progress of `all` reloads.
    pub(crate) fn new(all: u64) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} reloads  {per_sec}  {eta} left");
        let bar = ProgressBar::new(all);
        Self { bar: style.map_or(bar.clone(), |style| bar.with_style(style)), all }
    }

    /// Sets the number of completed reloads.
    pub(crate) fn reached(&self, done: u64) {
        let before = self.bar.position();
        if before == 0 && done > 0 {
            // Restarts the clock after the first reload, so that the displayed rate excludes the time of the build.
            self.bar.reset_elapsed();
            self.bar.reset_eta();
        }
        self.bar.set_position(done);
        if self.bar.is_hidden()
            && let Some(percent) = tenth(before, done, self.all)
        {
            eprintln!("{done} of {} reloads, {percent} %", self.all);
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn print_line(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the progress in percent if the number of completed tenths has increased since `before`.
fn tenth(before: u64, done: u64, all: u64) -> Option<u64> {
    let tenths = |count: u64| count * 10 / all.max(1);
    (tenths(before) < tenths(done)).then(|| tenths(done) * 10)
}

#[cfg(test)]
mod tests {
    use super::tenth;

    #[test]
    fn each_tenth_is_printed_once() {
        let printed = |all| (1..=all).filter_map(|done| tenth(done - 1, done, all)).collect::<Vec<_>>();
        assert_eq!(printed(200), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(printed(13), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(printed(3), [30, 60, 100]);
        assert_eq!(printed(0), [0; 0]);
    }
}
