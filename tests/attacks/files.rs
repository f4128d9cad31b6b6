//! Permissions of the server's files: other users of the machine cannot read secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::Server;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn assert_private(data: &Path) {
    let store = data.join("store");
    assert_eq!((mode(data), mode(&store), mode(&data.join("pki"))), (0o700, 0o700, 0o700));
    let mut files = 0;
    for entry in fs::read_dir(&store).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 3, "the lock, the database and its log");
    for entry in fs::read_dir(data.join("pki")).unwrap() {
        let path = entry.unwrap().path();
        let is_key = path.extension().is_some_and(|extension| extension == "key");
        assert!(!is_key || mode(&path) == 0o600, "{}", path.display());
    }
}

/// Finding B20: only the permissions of the folder protected the database and its log.
#[test]
fn store_files_are_private_to_owner() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_in(folder.path());
    let data = server.data().to_owned();
    assert_private(&data);
    server.kill();
    // A store written by an earlier version.
    let store = data.join("store");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(&store).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let server = Server::start_in(folder.path());
    assert_private(&data);
    drop(server);
}
