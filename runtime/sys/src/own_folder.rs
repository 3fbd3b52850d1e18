//! Thread with its own working directory. Code on this thread resolves relative paths in this directory. Other threads of the process keep
//! the working directory of the process.

use std::env::set_current_dir;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Job of the thread. Receives the result of entering the folder.
type Job = Box<dyn FnOnce(io::Result<()>) + Send>;

/// Thread with its own working directory. Dropping the value joins the thread.
#[derive(Debug)]
pub struct OwnFolder {
    folder: PathBuf,
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnFolder {
    /// Starts the thread in that folder.
    ///
    /// # Errors
    /// Fails if the system does not support threads with their own folder, or if the folder cannot be entered.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let (jobs, queue) = sync_channel::<Job>(1);
        let (ready, started) = sync_channel(1);
        let directory = folder.clone();
        let thread = thread::Builder::new().name("alcedo-user-code".to_owned()).spawn(move || {
            let entered = crate::imp::unshare_folder().and_then(|()| set_current_dir(&directory));
            let is_there = entered.is_ok();
            if ready.send(entered).is_ok() && is_there {
                run_all(&queue, &directory);
            }
        })?;
        let gone = || io::Error::other("the thread ended before it had begun");
        started.recv().map_err(|_| gone())??;
        Ok(Self { folder, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Runs `job` in the folder and waits for the result. Enters the folder again if an earlier job changed the directory. If a job on this
    /// thread calls this method, `job` runs immediately, and the calling job continues in the folder. Two threads of this type must not
    /// wait for each other.
    ///
    /// # Errors
    /// Fails if the folder can no longer be entered, or if a panic of a job has ended the thread.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        if self.is_current() {
            return set_current_dir(&self.folder).map(|()| job());
        }
        let gone = || io::Error::other("the thread has ended");
        let (result, awaited) = sync_channel(1);
        let job = move |entered: io::Result<()>| {
            // Sending the result cannot fail, because the caller waits for it.
            _ = result.send(entered.map(|()| job()));
        };
        self.jobs.as_ref().ok_or_else(gone)?.send(Box::new(job)).map_err(|_| gone())?;
        awaited.recv().map_err(|_| gone())?
    }

    fn is_current(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == thread::current().id())
    }
}

/// Runs jobs until the sender is dropped. A job may call a function of an image, and this function may create thread-locals. Only this
/// thread can destroy these thread-locals when the image ends.
fn run_all(queue: &Receiver<Job>, directory: &Path) {
    loop {
        let job = match crate::checkpoint_interval() {
            Some(interval) => queue.recv_timeout(interval),
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => job(set_current_dir(directory)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        // Also runs after each job, because a thread with a job in every frame is never idle. The caller of the job already has the result,
        // and no code of an image runs on this thread between two jobs.
        crate::checkpoint();
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // If a job on the thread drops this value, the thread cannot join itself.
        let is_current = self.is_current();
        if let Some(thread) = self.thread.take().filter(|_| !is_current) {
            // Ignores the error of a job that has panicked, because the panic was already reported.
            _ = thread.join();
        }
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::env::current_dir;
    use std::sync::Arc;

    use super::OwnFolder;

    #[test]
    fn the_thread_has_its_own_working_directory() {
        let before = current_dir().expect("one");
        let folder = tempfile::tempdir().expect("a folder");
        let own = OwnFolder::start(folder.path()).expect("a thread");
        for _ in 0..2 {
            let there = own.run(|| {
                let there = current_dir().expect("one");
                std::env::set_current_dir("/").expect("it is there");
                there
            });
            assert_eq!(there.expect("it ran"), folder.path().canonicalize().expect("it is there"));
        }
        assert_eq!(current_dir().expect("one"), before);
        folder.close().expect("removed");
        assert!(own.run(|| ()).is_err());
        let folder = tempfile::tempdir().expect("a folder");
        assert!(OwnFolder::start(&folder.path().join("none")).is_err());
    }
    #[test]
    fn nested_jobs_run_immediately_in_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = Arc::new(OwnFolder::start(folder.path()).expect("a thread"));
        let inner = Arc::clone(&own);
        let there = own.run(move || {
            std::env::set_current_dir("/").expect("it is there");
            let deeper = Arc::clone(&inner);
            inner.run(move || deeper.run(|| current_dir().expect("one")).expect("it ran")).expect("it ran")
        });
        assert_eq!(there.expect("it ran"), folder.path().canonicalize().expect("it is there"));
        // The job, which runs on the thread, may drop the last reference.
        let last = Arc::clone(&own);
        own.run(move || drop(last)).expect("it ran");
        assert_eq!(Arc::strong_count(&own), 1);
    }
}
