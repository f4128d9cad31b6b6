//! Reloads serving certificates and client CAs (upstream: `dynamiccertificates`).

use std::sync::Arc;
use std::time::Duration;

use options::ServingOptions;

use super::connection::Connections;
use super::tls::TlsConfig;
use crate::certificates::{TlsContents, TlsFiles};

/// The interval of reading the files, which are small and few.
const INTERVAL: Duration = Duration::from_secs(1);

/// Reloads the files forever. On an error, logs it and keeps the previous configuration.
pub(super) async fn follow(
    connections: Arc<Connections>,
    options: ServingOptions,
    files: TlsFiles,
    mut seen: TlsContents,
) {
    let mut last_failure = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let reader = files.clone();
        let Ok(read) = tokio::task::spawn_blocking(move || reader.read()).await else { return };
        let outcome = read.and_then(|contents| {
            if contents != seen {
                connections.set_tls_config(TlsConfig::new(&options, &contents)?);
                tracing::info!("reloaded serving certificates and client CAs");
                seen = contents;
            }
            Ok(())
        });
        // The files may be partially written; a repeated error is logged once.
        let failure = outcome.err().map(|error| error.to_string());
        if let Some(why) = failure.as_ref().filter(|_| failure != last_failure) {
            tracing::warn!(why, "cannot reload serving certificates and client CAs; keeping the previous ones");
        }
        last_failure = failure;
    }
}
