//! Tests a plugin by loading its library into a headless host in the test process. A plugin enables this module with the feature `testing`
//! in its dev-dependencies.
//!
//! A plugin is a `cdylib`, which a test cannot link. [`test_world!`](crate::test_world) therefore builds the library of the plugin and
//! loads the library into a host. The test then creates objects, calls their functions by name, and runs ticks. The test can also read
//! properties and the log, and edit the plugin between two builds.
//!
//! ```toml
//! [dev-dependencies]
//! alcedo = { path = "…/runtime/alcedo", features = ["testing"] }
//! ```
//!
//! ```no_run
//! #[test]
//! fn a_cube_turns() {
//!     let world = alcedo::test_world!();
//!     let cube = world.spawn("MagicCube");
//!     world.set(cube, "rotation_speed", 90.0);
//!     world.tick(0.5);
//!     assert_eq!(world.get::<alcedo::engine::Rotator>(cube, "rotation").yaw, 45.0);
//! }
//! ```
//!
//! A panic in the plugin fails the test. The message contains the panic message, the file and the line in the plugin. Cargo builds the
//! plugin with the features in the plugin's own manifest, as for a normal host. Dev-dependencies do not change these features.

mod log;
mod plugin;
mod world;

pub use log::{Log, LogLine};
pub use tracing::Level;
pub use world::{TestWorld, TestWorldBuilder};

/// Builds the plugin package that contains the test. Returns a [`TestWorld`](crate::testing::TestWorld) with the library of the package.
/// The first, optional argument is the `Builder` of the host. The default host is the small engine. The other arguments are folders of other
/// plugins to load, such as the plugins on which this plugin depends: see [`TestWorldBuilder::and`](crate::testing::TestWorldBuilder::and).
/// Requires the feature `testing`.
///
/// # Panics
/// Panics if [`TestWorldBuilder::build`](crate::testing::TestWorldBuilder::build) panics.
///
/// # Examples
/// ```no_run
/// use alcedo::Runtime;
///
/// let in_the_engine = alcedo::test_world!();
/// let in_a_host = alcedo::test_world!(Runtime::builder().package("Mods"));
/// let with_its_base = alcedo::test_world!(Runtime::builder().package("Mods"), "../base");
/// ```
#[macro_export]
macro_rules! test_world {
    () => {
        $crate::__test_world!().build()
    };
    ($host:expr $(, $folder:expr)* $(,)?) => {
        $crate::__test_world!().host($host)$(.and($folder))*.build()
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __test_world {
    () => {
        $crate::testing::of_test(
            $crate::testing::TestWorld::builder(env!("CARGO_MANIFEST_DIR"), env!("CARGO_PKG_NAME")),
            option_env!("CARGO_TARGET_TMPDIR"),
            !cfg!(debug_assertions),
        )
    };
}

/// Sets the build profile for a test. If `tmp` is set, also sets the build folder. `tmp` is the value of `CARGO_TARGET_TMPDIR`, a folder
/// inside cargo's build folder. Cargo sets this variable for integration tests only.
#[doc(hidden)]
pub fn of_test(builder: TestWorldBuilder, tmp: Option<&str>, release: bool) -> TestWorldBuilder {
    let builder = builder.release(release);
    match tmp.and_then(|tmp| std::path::Path::new(tmp).parent()) {
        Some(folder) => builder.build_dir(folder),
        None => builder,
    }
}
