//! Extends the host's `{{base}}`. Save this file while `alcedo dev` runs: objects continue with the new code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
{{imports}}
module! { name: "{{module}}" }

/// A `{{base}}` that counts calls of the host.
#[uclass(package = "{{plugins}}", base = {{base}}, blueprintable)]
pub struct {{class}} {
    /// Reflected: stored in the host's object, survives every reload.
    #[uproperty(edit_anywhere, default = 1.0)]
    {{factor}}: f64,
    /// A field of the plugin: every reload resets it …
    fresh: u32,
    /// … unless it is kept.
    #[keep]
    calls: u32,
}

#[uclass]
impl {{class}} {
{{events}}    /// Counts the calls of events.
    #[ufunction(blueprint_pure)]
    fn {{count}}(&self) -> u32 {
        self.calls
    }

    /// Counts the calls of events since the last reload.
    #[ufunction(blueprint_pure)]
    fn {{recent}}(&self) -> u32 {
        self.fresh
    }
}
