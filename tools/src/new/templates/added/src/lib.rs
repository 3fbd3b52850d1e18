//! Extends the host's `{{base}}`. Edit and save this file while `alcedo dev` runs: existing objects continue with the new code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
{{imports}}
module! { name: "{{module}}" }

/// Extends `{{base}}`, and counts the events that the host calls.
#[uclass(package = "{{plugins}}", base = {{base}}, blueprintable)]
pub struct {{class}} {
    /// Reflected: stored in the host's object, survives every reload.
    #[uproperty(edit_anywhere, default = 1.0)]
    {{factor}}: f64,
    /// A field of the plugin: every reload resets it.
    fresh: u32,
    /// Kept: reloads save and restore it.
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
