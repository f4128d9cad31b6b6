//! A second opinion on our protobuf: `prost`'s reflection reads, with nothing but the emitted
//! `.proto` files, what our codec writes, and has to find the same value field by field; our codec
//! reads what `prost` writes of it.

mod compare;
#[path = "../random/mod.rs"]
mod random;

use std::path::{Path, PathBuf};

use compare::compare;
use machinery::catalog::KindDef;
use machinery::protobuf;
use machinery::reflect::Owned;
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use random::Reach;

/// Include folders: one's own groups import the files of the others.
fn folders() -> [PathBuf; 2] {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    [own.join("../proto"), own.join("proto")]
}

/// Every `.proto` file, as a path below its include folder.
fn files() -> Vec<PathBuf> {
    let mut out = Vec::new();
    for folder in folders() {
        // Nobody need have groups of their own.
        for group in std::fs::read_dir(&folder).into_iter().flatten() {
            for file in std::fs::read_dir(group.expect("a group").path()).expect("a group's folder") {
                let file = file.expect("a file").path();
                out.push(file.strip_prefix(&folder).expect("below the folder").to_path_buf());
            }
        }
    }
    out.sort();
    out
}

/// The include folders that there are.
fn present() -> impl Iterator<Item = PathBuf> {
    folders().into_iter().filter(|folder| folder.is_dir())
}

fn pool() -> DescriptorPool {
    let files = protox::compile(files(), present()).unwrap_or_else(|e| panic!("{e:?}"));
    DescriptorPool::from_file_descriptor_set(files).expect("consistent descriptors")
}

/// The message of a kind. A version that only passes on another's type (`meta.k8s.io/v1beta1
/// PartialObjectMetadata`) has none of its own.
fn message_of(pool: &DescriptorPool, kind: &KindDef) -> Option<MessageDescriptor> {
    let same = own::catalog().kinds.iter().filter(|other| std::ptr::eq(other.def, kind.def));
    own_message(pool, kind).or_else(|| same.filter_map(|other| own_message(pool, other)).next())
}

/// The message in the package of the kind's group version, which its file tells.
fn own_message(pool: &DescriptorPool, kind: &KindDef) -> Option<MessageDescriptor> {
    let folder = match kind.group {
        "" => "core",
        "meta.k8s.io" => "meta",
        group => group,
    };
    let file = pool.get_file_by_name(&format!("{folder}/{}.proto", kind.version))?;
    pool.get_message_by_name(&format!("{}.{}", file.package_name(), kind.kind))
}

/// Reads a value's bytes as `message` and compares; then the other way round.
fn check(message: &MessageDescriptor, value: &Owned) -> Result<(), String> {
    let mut raw = Vec::new();
    protobuf::encode(value.as_ref(), &mut raw);
    let read = DynamicMessage::decode(message.clone(), raw.as_slice()).map_err(|e| e.to_string())?;
    let mut differences = Vec::new();
    compare(value.as_ref(), &read, message.name(), &mut differences);
    if let Some(first) = differences.first() {
        return Err(format!("{} differences, the first: {first}", differences.len()));
    }
    let mut back = Owned::new(value.def());
    protobuf::decode(&read.encode_to_vec(), back.as_mut()).map_err(|e| e.to_string())?;
    if back.as_ref() == value.as_ref() { Ok(()) } else { Err("what prost writes is read as another value".into()) }
}

#[test]
fn prost_reads_what_we_write() {
    let pool = pool();
    let mut failures = Vec::new();
    let mut checked = 0;
    for kind in own::catalog().kinds {
        let has_numbers = kind.def.fields.iter().any(|field| field.number != 0);
        let Some(message) = message_of(&pool, kind) else {
            if has_numbers {
                failures.push(format!("{} {}: no message", kind.api_version(), kind.kind));
            }
            continue;
        };
        for seed in 100..103 {
            checked += 1;
            if let Err(why) = check(&message, &random::value(kind, seed, Reach::Protobuf)) {
                failures.push(format!("{} {} (seed {seed}): {why}", kind.api_version(), kind.kind));
                break;
            }
        }
    }
    assert!(checked > 0, "no kind has a message");
    let shown: Vec<&str> = failures.iter().take(30).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} kinds fail:\n{}", failures.len(), shown.join("\n"));
}

/// `prost-build` is what Rust clients would run on the files.
#[test]
fn prost_build_makes_types_of_the_files() {
    let out = tempfile::tempdir().expect("a folder");
    let files = protox::compile(files(), present()).unwrap_or_else(|e| panic!("{e:?}"));
    prost_build::Config::new().out_dir(out.path()).compile_fds(files).expect("prost-build accepts the files");
    let text = std::fs::read_to_string(out.path().join("k8s.io.api.core.v1.rs")).expect("core/v1 as Rust");
    assert!(text.contains("pub struct PodSpec"));
}
