//! Servers from Debian's packages, unpacked without installing them: installed ones would run at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{capture, run};
use crate::progress::begin;
use crate::project::tool_cache;

/// The program at this place of unpacked packages, which are fetched if it is missing or fails when asked with `flag` to say something
/// of itself. `complete` adds what else it needs to run, in the directory where they are.
pub(super) fn unpacked(
    name: &str,
    packages: &[&str],
    (place, flag): (&str, &str),
    complete: impl Fn(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let _lock = super::installing();
    let directory = tool_cache(name, "debian")?;
    let program = directory.join(place);
    if program.is_file() && capture(Command::new(&program).arg(flag)).is_ok() {
        return Ok(program);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    begin(&format!("{name}: fetching {} into {}", packages.join(", "), directory.display()));
    let download = |own: &[String]| run(apt("download", own).args(packages).current_dir(&directory));
    // A fresh machine has no lists of packages, or old ones.
    download(&[])
        .or_else(|_| run(&mut apt("update", &[])).and_then(|()| download(&[])))
        .or_else(|_| download(&backports(&directory)?))
        .with_context(|| format!("apt could not fetch {name}: install it"))?;
    for entry in directory.read_dir().context("the cache cannot be read")? {
        let path = entry.context("the cache cannot be read")?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg").arg("-x").arg(&path).arg(&directory))?;
        }
    }
    complete(&directory)?;
    Ok(program)
}

fn apt(task: &str, options: &[String]) -> Command {
    let mut apt = Command::new("apt-get");
    apt.arg("-q").args(options).arg(task);
    apt
}

/// Options with which apt has the backports of this machine's release besides, from where it has the release itself. Its own
/// lists of packages stay as they are.
fn backports(directory: &Path) -> Result<Vec<String>> {
    let format = "$(ORIGIN) $(COMPONENT) $(REPO_URI) $(CODENAME)";
    let mut known = Command::new("apt-get");
    let known = capture(known.args(["indextargets", "--format", format, "Created-By: Packages"]))?;
    let release = known.lines().find_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        ["Debian", "main", address, codename] if !codename.contains('-') => Some((address, codename)),
        _ => None,
    });
    let (address, codename) = release.context("the machine has no release of Debian")?;
    let failed = || format!("cannot write into {}", directory.display());
    let lists = directory.join("lists");
    fs::create_dir_all(lists.join("partial")).with_context(failed)?;
    let source = directory.join("backports.list");
    let lines = ["", "-backports"].map(|suite| format!("deb {address} {codename}{suite} main\n"));
    fs::write(&source, lines.concat()).with_context(failed)?;
    let options: Vec<String> = [
        format!("Dir::Etc::SourceList={}", source.display()),
        "Dir::Etc::SourceParts=-".to_owned(),
        format!("Dir::State::Lists={}", lists.display()),
        "Dir::Cache::pkgcache=".to_owned(),
        "Dir::Cache::srcpkgcache=".to_owned(),
    ]
    .map(|option| format!("-o{option}"))
    .into();
    run(&mut apt("update", &options))?;
    Ok(options)
}
