//! Maintains the config map with the date since which uses of legacy tokens are recorded (upstream:
//! `legacytokentracking.Controller`). kube-controller-manager's cleanup of unused tokens reads it.

use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::ConfigMap;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::Clock;

const CONFIG_MAPS: GroupVersionResource = ("", "v1", "configmaps");
const NAMESPACE: &str = "kube-system";
const NAME: &str = "kube-apiserver-legacy-service-account-token-tracking";
const SINCE: &str = "since";
/// The interval of checks. Upstream also creates the config map at most once per interval, because
/// servers without the feature delete it.
const INTERVAL: Duration = Duration::from_secs(30 * 60);

/// Creates the config map and starts its maintenance.
///
/// # Errors
/// When the config map can be neither read nor written.
pub async fn start(loopback: &Arc<Loopback>, clock: Arc<dyn Clock>) -> Result<(), Status> {
    if !loopback.serves(CONFIG_MAPS) {
        return Ok(());
    }
    ensure(loopback, clock.as_ref()).await?;
    let loopback = loopback.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(status) = ensure(&loopback, clock.as_ref()).await {
                tracing::warn!(why = status.message, "cannot maintain config map {NAMESPACE}/{NAME}; retrying");
            }
        }
    });
    Ok(())
}

async fn ensure(loopback: &Loopback, clock: &dyn Clock) -> Result<(), Status> {
    let written = match loopback.get::<ConfigMap>(CONFIG_MAPS, NAMESPACE, NAME).await? {
        Some(map) if map.data.get(SINCE).is_some_and(|since| is_date(since)) => return Ok(()),
        Some(mut map) => {
            map.data.insert(SINCE.into(), date(clock.now()));
            loopback.update(CONFIG_MAPS, map).await
        }
        None => {
            let mut map = ConfigMap::default();
            map.metadata.name = NAME.into();
            map.metadata.namespace = NAMESPACE.into();
            map.data.insert(SINCE.into(), date(clock.now()));
            loopback.create(CONFIG_MAPS, map).await
        }
    };
    match written {
        // Another server was faster, or the config map was deleted just now.
        Err(status) if status.code == 409 || status.code == 404 => Ok(()),
        written => written.map(drop),
    }
}

/// Returns the UTC date of a time.
fn date(time: Time) -> String {
    time.to_string().chars().take(DATE.len()).collect()
}

const DATE: &str = "2006-01-02";

/// Whether a text is a date in Go's layout `2006-01-02`.
fn is_date(text: &str) -> bool {
    text.len() == DATE.len() && Time::parse(&format!("{text}T00:00:00Z")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_dates() {
        assert!(is_date(&date(Time::from_unix(0))) && is_date("2024-02-29"));
        for text in ["", "2023-02-29", "2024-2-29", "2024-02-29T00:00:00Z", "yesterday."] {
            assert!(!is_date(text), "{text:?}");
        }
    }
}
