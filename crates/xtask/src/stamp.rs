//! Stamps: a step is skipped while its inputs are byte for byte those of its last good run and its outputs still exist.
//! Contents are compared, not times, so that a fresh checkout, a switched branch or a copied directory does not mislead
//! it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::project::Project;

/// The inputs of one step, and the file that remembers them.
#[derive(Debug)]
pub(crate) struct Stamp {
    file: PathBuf,
    inputs: DefaultHasher,
    outputs: Vec<PathBuf>,
}

impl Stamp {
    /// A stamp of this name, with no inputs yet.
    pub(crate) fn new(project: &Project, name: &str) -> Result<Self> {
        let file = project.scratch("stamps")?.join(name);
        Ok(Self { file, inputs: DefaultHasher::new(), outputs: Vec::new() })
    }

    /// Adds a text, such as a tool's version.
    pub(crate) fn text(mut self, text: &str) -> Self {
        text.hash(&mut self.inputs);
        self
    }

    /// Adds a file, or every file under a directory, by name and content. A missing file counts too: its hash differs
    /// from that of any content.
    pub(crate) fn input(mut self, path: &Path) -> Result<Self> {
        hash_path(path, &mut self.inputs).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(self)
    }

    /// Adds a file that the step makes.
    pub(crate) fn output(mut self, path: PathBuf) -> Self {
        self.outputs.push(path);
        self
    }

    /// Whether the last good run had these inputs and its outputs are still there.
    pub(crate) fn is_current(&self) -> bool {
        self.outputs.iter().all(|path| path.exists())
            && fs::read_to_string(&self.file).is_ok_and(|kept| kept == self.digest())
    }

    /// Remembers the inputs after a good run.
    pub(crate) fn keep(&self) -> Result<()> {
        fs::write(&self.file, self.digest()).with_context(|| format!("cannot write {}", self.file.display()))
    }

    /// Forgets the last good run, to be called before the outputs are touched.
    pub(crate) fn clear(&self) {
        let _ = fs::remove_file(&self.file);
    }

    fn digest(&self) -> String {
        format!("{:016x}", self.inputs.finish())
    }
}

fn hash_path(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    path.file_name().hash(hasher);
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        entries.retain(|entry| !is_generated(entry));
        entries.sort();
        entries.len().hash(hasher);
        for entry in &entries {
            hash_path(entry, hasher)?;
        }
    } else if path.exists() {
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}

/// Directories that tools fill and that are not inputs.
fn is_generated(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "node_modules" || name == "dist" || name == ".vite")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(path: &Path) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash_path(path, &mut hasher).expect("the test's own files are readable");
        hasher.finish()
    }

    #[test]
    fn a_directory_is_its_names_and_contents() {
        let directory = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        fs::create_dir_all(directory.join("inner")).expect("a directory can be made");
        fs::write(directory.join("inner/a"), "one").expect("a file can be written");
        let before = digest(&directory);
        assert_eq!(digest(&directory), before);
        fs::write(directory.join("inner/a"), "two").expect("a file can be written");
        let changed = digest(&directory);
        assert_ne!(changed, before);
        fs::rename(directory.join("inner/a"), directory.join("inner/b")).expect("a file can be renamed");
        assert_ne!(digest(&directory), changed);
        fs::remove_dir_all(&directory).expect("the directory can be removed");
    }
}
