//! Shows a progress bar that a thread updates. The bar is finished when the module ends. In the row `indicatif-leaked`, the bar is left
//! running in a static.

use std::time::Duration;

use crate::local::Kept;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

static BAR: Kept<ProgressBar> = Kept::new();

pub(crate) fn begin() {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(5));
    BAR.keep(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").map(|style| bar.with_style(style)));
}

pub(crate) fn work() -> String {
    BAR.work(|bar| {
        bar.set_message("at work");
        bar.set_position(0);
        for _ in 0..10 {
            bar.inc(1);
        }
        Ok::<_, ()>(bar.position() == 10)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "indicatif-leaked")) {
        let _untouched = BAR.take().map(|bar| bar.finish_and_clear());
    }
}
