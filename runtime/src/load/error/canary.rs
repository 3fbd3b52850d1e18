use serde::{Deserialize, Serialize};

named! {
    /// Step in which a canary tests one module.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::CanaryStep;
    ///
    /// let step = CanaryStep::Mapping;
    /// println!("the canary has stopped: {step}");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum CanaryStep {
        /// Maps the module. Mapping runs the initializers of the module.
        Mapping = "mapping",
        /// Compares the root module and attaches the module to the host.
        Attaching = "attaching",
        /// Reads the declarations of the module.
        Registering = "registering",
    }
}

impl CanaryStep {
    /// All steps, in the order of execution.
    pub(in crate::load) const ALL: [Self; 3] = [Self::Mapping, Self::Attaching, Self::Registering];
}
