//! Public descriptions of jobs: scheduled jobs, and jobs that were dropped with their module.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::handles::ObjectHandle;
use crate::lease::LeaseKind;

/// Description of a scheduled job, for tools and tests.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{JobInfo, Runtime};
///
/// /// Returns the tasks, timers and closures of one plugin.
/// fn jobs_of(runtime: &Runtime, module: &str) -> Vec<JobInfo> {
///     runtime.jobs().into_iter().filter(|job| job.module == module).collect()
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// assert!(jobs_of(&Runtime::builder().build()?, "weather").is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Name of the module.
    pub module: String,
    /// Generation of the module.
    pub generation: u64,
    /// Kind of the job: task, timer or posted closure.
    pub kind: LeaseKind,
    /// Source file and line that requested the job.
    pub place: String,
    /// Object that owns the job. `None` if the module owns the job.
    pub object: Option<ObjectHandle>,
    /// Game time at which a timer is due. `None` for a task or a posted closure.
    pub due: Option<Duration>,
}

/// Number of jobs that were dropped with their module. All counted jobs have one kind and one source location.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::UnloadReport;
///
/// fn print_jobs(report: &UnloadReport) {
///     for job in &report.jobs {
///         println!("{} {}s of {} were dropped, from {}", job.count, job.kind, job.module, job.place);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCount {
    /// Kind of the jobs: task, timer or posted closure.
    pub kind: LeaseKind,
    /// Name of the module.
    pub module: String,
    /// Source file and line that requested the jobs.
    pub place: String,
    /// Number of jobs.
    pub count: u64,
}

impl fmt::Display for JobCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, module, place, count } = self;
        let many = usize::try_from(*count).unwrap_or(usize::MAX);
        write!(f, "{count} {} of {module} cut short, from {place}", kind.counted(many))
    }
}
