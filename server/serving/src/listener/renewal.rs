//! Reads the files that handshakes are made with again, and makes handshakes with what they hold from then on (upstream:
//! `dynamiccertificates`).

use std::sync::Arc;
use std::time::Duration;

use super::connection::Connections;
use super::tls::Terms;
use crate::certificates::{TlsContents, TlsFiles};
use crate::options::ServingOptions;

/// How often files are read. They are small and few.
const EVERY: Duration = Duration::from_secs(1);

/// Follows the files. What cannot be used is said in the log, and what was used before stays. Does not end.
pub(super) async fn follow(
    connections: Arc<Connections>,
    options: ServingOptions,
    files: TlsFiles,
    mut seen: TlsContents,
) {
    let mut complained = None;
    loop {
        tokio::time::sleep(EVERY).await;
        let reader = files.clone();
        let Ok(read) = tokio::task::spawn_blocking(move || reader.read()).await else { return };
        let outcome = read.and_then(|contents| {
            if contents != seen {
                connections.set_terms(Terms::new(&options, &contents)?);
                tracing::info!("certificates and authorities were read anew");
                seen = contents;
            }
            Ok(())
        });
        // Somebody may be in the middle of writing the files; what stays wrong is said once.
        let complaint = outcome.err().map(|error| error.to_string());
        if let Some(why) = complaint.as_ref().filter(|_| complaint != complained) {
            tracing::warn!(why, "certificates and authorities stay as they were");
        }
        complained = complaint;
    }
}
