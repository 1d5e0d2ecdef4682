//! Says from which adapters, in Python, a kernel was built: it must mean by messages what they mean.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The adapters; `changewire.engines.native` makes the same digest of those that are installed.
const ADAPTERS: &str = "../runtime/changewire/changes";

fn main() {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(ADAPTERS);
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    sources(&folder, "", &mut files);
    files.sort();
    let mut digest = Sha256::new();
    for (name, path) in files {
        let source = fs::read(path).expect("a source is read");
        digest.update(format!("{name}\n{}\n", source.len()));
        digest.update(source);
    }
    print!("cargo:rustc-env=CHANGEWIRE_ADAPTERS=");
    digest.finalize().iter().for_each(|byte| print!("{byte:02x}"));
    println!();
}

/// Add the sources of a folder, with their names below the first one.
fn sources(folder: &Path, prefix: &str, found: &mut Vec<(String, PathBuf)>) {
    let entries = fs::read_dir(folder).expect("the kernel is built in the repository of changewire");
    for entry in entries {
        let path = entry.expect("an entry is read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            sources(&path, &format!("{name}/"), found);
        } else if path.extension().is_some_and(|end| end == "py") {
            found.push((name, path));
        }
    }
}
