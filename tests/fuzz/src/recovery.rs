//! The embedded store on damaged files.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use storage::{EmbeddedOptions, EmbeddedStore, KeyRange, ListOptions, Store, Txn};
use tempfile::TempDir;

const OPTIONS: fn() -> EmbeddedOptions =
    || EmbeddedOptions { compaction_interval: None, durable: false, ..EmbeddedOptions::default() };

/// Returns the files of a store: some writes are in the database, some in its log.
fn undamaged() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = folder();
        let runtime = runtime();
        write(&runtime, &EmbeddedStore::open_with(folder.path(), OPTIONS()).expect("it opens"), 0..40);
        let store = EmbeddedStore::open_with(folder.path(), OPTIONS()).expect("it opens again");
        write(&runtime, &store, 40..80);
        let entries = fs::read_dir(folder.path()).expect("the folder can be read").flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        files
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
            .collect()
    })
}

fn write(runtime: &tokio::runtime::Runtime, store: &EmbeddedStore, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let txn = Txn::put(format!("/registry/pods/p{number}"), value(number));
        runtime.block_on(store.commit(txn)).expect("it is written");
    }
}

fn value(number: u32) -> Vec<u8> {
    format!("value {number} {}", "x".repeat(number as usize * 7)).into_bytes()
}

/// Opens a store with truncated and modified files: it opens or returns an error, and every value
/// it returns was written.
pub fn recovery(bytes: &[u8]) {
    let folder = folder();
    let mut input = Unstructured::new(bytes);
    let Ok(()) = damage(&mut input, folder.path()) else { return };
    let Ok(store) = EmbeddedStore::open_with(folder.path(), OPTIONS()) else { return };
    let runtime = runtime();
    if let Ok(listed) = runtime.block_on(store.list(KeyRange::prefix("/registry/"), ListOptions::default())) {
        for kv in listed.kvs.iter().filter(|kv| kv.damage.is_none()) {
            assert!((0..80).any(|number| kv.value == value(number)), "a value that was never written");
        }
    }
    let _ = runtime.block_on(store.commit(Txn::put("/registry/pods/after", "x")));
    let _ = runtime.block_on(store.close());
}

fn damage(input: &mut Unstructured<'_>, folder: &Path) -> Result<()> {
    let mut files = undamaged().to_vec();
    for _ in 0..input.int_in_range(1..=6)? {
        let index = input.choose_index(files.len())?;
        let content = &mut files[index].1;
        let at = input.int_in_range(0..=content.len())?;
        match input.int_in_range(0..=3)? {
            0 => content.truncate(at),
            1 => content[at..].iter_mut().take(512).for_each(|byte| *byte = 0),
            _ => {
                let byte = input.arbitrary()?;
                if let Some(place) = content.get_mut(at) {
                    *place = byte;
                }
            }
        }
    }
    for (name, content) in &files {
        fs::write(folder.join(name), content).expect("the copy can be written");
    }
    Ok(())
}

/// Returns a temporary folder, in memory when possible: each run copies the files.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(parent).expect("a folder can be made")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts")
}
