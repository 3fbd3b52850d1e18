//! Records spans. A thread passes the spans to an exporter in batches. The provider is shut down when the module ends. In the row
//! `opentelemetry-leaked`, the provider is left in a static.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::local::Kept;

use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

static EXPORTED: AtomicUsize = AtomicUsize::new(0);
static PROVIDER: Kept<SdkTracerProvider> = Kept::new();

#[derive(Debug)]
struct Count;

impl SpanExporter for Count {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        EXPORTED.fetch_add(batch.len(), Ordering::SeqCst);
        Ok(())
    }
}

pub(crate) fn begin() {
    PROVIDER.keep(Ok::<_, OTelSdkError>(SdkTracerProvider::builder().with_batch_exporter(Count).build()));
}

pub(crate) fn work() -> String {
    PROVIDER.work(|provider| {
        let tracer = provider.tracer("surveyed");
        for _ in 0..10 {
            tracer.start("work").end();
        }
        provider.force_flush()?;
        Ok::<_, OTelSdkError>(EXPORTED.load(Ordering::SeqCst) >= 10)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "opentelemetry-leaked")) {
        drop(PROVIDER.take().map(|provider| provider.shutdown()));
    }
}
