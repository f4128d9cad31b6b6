//! Snapshots over gRPC, in the form that `kube-apiserver snapshot` reads.
//!
//! `etcdctl snapshot save` checks that a file is a number of sectors with a SHA-256 after them, and
//! knows nothing of the content. So the snapshot is filled up with zeros to a sector.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use sha2::{Digest, Sha256};
use storage::EmbeddedStore;
use tokio::{fs::File, io::AsyncReadExt};
use tonic::Status;

use crate::{answer::of_store, etcd::Etcd, proto::SnapshotResponse, version::CLUSTER_VERSION};

const CHUNK: usize = 32 << 10;
const SECTOR: u64 = 512;

/// Writes a snapshot to a temporary file, and streams it.
pub(crate) async fn snapshot(
    etcd: Arc<Etcd>,
    (): (),
) -> Result<impl Stream<Item = Result<SnapshotResponse, Status>>, Status> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("snapshot");
    let (from, to) = (etcd.store.directory().to_owned(), path.clone());
    let saved = tokio::task::spawn_blocking(move || EmbeddedStore::save(from, to)).await;
    saved.map_err(failed)?.map_err(of_store)?;
    let sending = Sending::open(&path, folder).await.map_err(failed)?;
    Ok(stream::try_unfold(sending, Sending::next))
}

/// A snapshot that is being sent; the folder is removed afterwards.
struct Sending {
    file: File,
    _folder: tempfile::TempDir,
    /// Bytes to send before the checksum, zeros included.
    remaining: u64,
    hasher: Option<Sha256>,
}

impl Sending {
    async fn open(path: &Path, folder: tempfile::TempDir) -> std::io::Result<Self> {
        let file = File::open(path).await?;
        let remaining = file.metadata().await?.len().next_multiple_of(SECTOR);
        Ok(Self { file, _folder: folder, remaining, hasher: Some(Sha256::new()) })
    }

    async fn next(mut self) -> Result<Option<(SnapshotResponse, Self)>, Status> {
        let Some(hasher) = &mut self.hasher else { return Ok(None) };
        if self.remaining == 0 {
            let checksum = hasher.finalize_reset().to_vec();
            self.hasher = None;
            return Ok(Some((response(checksum, 0), self)));
        }
        let length = self.remaining.min(CHUNK as u64) as usize;
        let mut chunk = vec![0; length]; // what the file lacks stays zero
        let mut read = 0;
        while read < length {
            match self.file.read(&mut chunk[read..]).await.map_err(failed)? {
                0 => break,
                more => read += more,
            }
        }
        hasher.update(&chunk);
        self.remaining -= length as u64;
        let remaining = self.remaining;
        Ok(Some((response(chunk, remaining), self)))
    }
}

fn response(blob: Vec<u8>, remaining_bytes: u64) -> SnapshotResponse {
    SnapshotResponse { header: None, remaining_bytes, blob: Bytes::from(blob), version: CLUSTER_VERSION.to_owned() }
}

fn failed(error: impl std::fmt::Display) -> Status {
    Status::unknown(format!("etcdserver: cannot make a snapshot: {error}"))
}
