//! Creates a repository with a commit. The repository is dropped when the module ends. In the row `git2-leaked`, the repository is left in
//! a static. libgit2 is a C library that the crate cannot shut down.

use crate::local::{self, Kept};

use git2::{Error, Repository, Signature};

static REPOSITORY: Kept<Repository> = Kept::new();

pub(crate) fn begin() {
    REPOSITORY.keep(Repository::init_bare(local::path("git")));
}

pub(crate) fn work() -> String {
    REPOSITORY.work(|repository| {
        let content = repository.blob(b"hello")?;
        let mut tree = repository.treebuilder(None)?;
        tree.insert("hello.txt", content, 0o100_644)?;
        let tree = repository.find_tree(tree.write()?)?;
        let signature = Signature::now("surveyed", "surveyed@localhost")?;
        let id = repository.commit(None, &signature, &signature, "a first commit", &tree, &[])?;
        Ok::<_, Error>(repository.find_commit(id)?.message() == Ok("a first commit"))
    })
}

pub(crate) fn end() {
    let Some(repository) = (if cfg!(feature = "git2-leaked") { None } else { REPOSITORY.take() }) else { return };
    let path = repository.path().to_owned();
    drop(repository);
    let _absent = std::fs::remove_dir_all(path);
}
