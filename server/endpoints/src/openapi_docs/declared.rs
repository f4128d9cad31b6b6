//! Sources of the documents of declared resources: the generated bundles, decompressed on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flate2::read::GzDecoder;
use openapi::{Catalog, GroupVersion};
use tokio::time::Instant;

use super::hash;
use crate::error::Error;

/// The served group versions and their plurals.
pub type Served = BTreeMap<(&'static str, &'static str), BTreeSet<&'static str>>;

/// How long an unused catalog stays in memory. A client often requests several documents in a row.
const RETENTION: Duration = Duration::from_secs(30);

/// The compressed bundles. Decompressed, they would take much of the memory of an idle server and
/// of its start-up time.
pub(super) struct DeclaredDocuments {
    bundles: &'static [&'static [u8]],
    served: Served,
    unpacked: Arc<Mutex<Option<Unpacked>>>,
}

struct Unpacked {
    catalog: Arc<Catalog>,
    used: Instant,
}

impl DeclaredDocuments {
    pub(super) fn new(bundles: &'static [&'static [u8]], served: Served) -> Self {
        DeclaredDocuments { bundles, served, unpacked: Arc::default() }
    }

    /// A text that changes whenever the documents change.
    pub(super) fn sources(&self) -> String {
        let bundles: String = self.bundles.iter().map(|bundle| hash(bundle)).collect();
        format!("{bundles}{:?}", self.served)
    }

    /// Returns the group versions without their resources.
    pub(super) fn outline(&self) -> Catalog {
        let version = |(group, version): &(&str, &str)| GroupVersion {
            group: (*group).into(),
            version: (*version).into(),
            ..GroupVersion::default()
        };
        let served = self.served.iter().filter(|(_, plurals)| !plurals.is_empty());
        Catalog { versions: served.map(|(name, _)| version(name)).collect(), ..Catalog::default() }
    }

    /// Returns the catalog of all served resources. An unreadable bundle is logged and omitted.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        let mut unpacked = lock(&self.unpacked);
        let used = Instant::now();
        if let Some(unpacked) = &mut *unpacked {
            unpacked.used = used;
            return unpacked.catalog.clone();
        }
        let catalog = Arc::new(self.unpack());
        // Without a runtime no task could release the catalog.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            *unpacked = Some(Unpacked { catalog: catalog.clone(), used });
            runtime.spawn(release_unused(self.unpacked.clone()));
        }
        catalog
    }

    fn unpack(&self) -> Catalog {
        let mut catalog = Catalog::default();
        for bundle in self.bundles {
            match unpack(bundle) {
                Ok(part) => catalog.extend(part),
                Err(error) => {
                    tracing::error!(%error, "cannot read an OpenAPI bundle; its groups have no OpenAPI documents");
                }
            }
        }
        catalog.retain(|version, resource| {
            let name = (version.group.as_str(), version.version.as_str());
            self.served.get(&name).is_some_and(|plurals| plurals.contains(resource.plural.as_str()))
        });
        catalog
    }
}

fn unpack(bundle: &[u8]) -> Result<Catalog, Error> {
    let mut text = Vec::new();
    GzDecoder::new(bundle).read_to_end(&mut text).map_err(Error::Unpack)?;
    serde_json::from_slice(&text).map_err(Error::Bundle)
}

/// Releases the catalog once it is unused for `RETENTION`.
async fn release_unused(unpacked: Arc<Mutex<Option<Unpacked>>>) {
    let mut until = Instant::now() + RETENTION;
    loop {
        tokio::time::sleep_until(until).await;
        let mut unpacked = lock(&unpacked);
        match unpacked.as_ref().map(|unpacked| unpacked.used + RETENTION) {
            Some(later) if later > Instant::now() => until = later,
            _ => {
                *unpacked = None;
                return;
            }
        }
    }
}

fn lock(unpacked: &Mutex<Option<Unpacked>>) -> MutexGuard<'_, Option<Unpacked>> {
    unpacked.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use openapi::{OpenApiOptions, Resource};

    use super::*;

    /// Declares widgets and gadgets; gadgets are not served.
    fn declared() -> DeclaredDocuments {
        let resources = ["gadgets", "widgets"].map(|name| Resource { plural: name.into(), ..Resource::default() });
        let version = GroupVersion { group: "example.com".into(), version: "v1".into(), ..GroupVersion::default() };
        let catalog =
            Catalog { versions: vec![GroupVersion { resources: resources.into(), ..version }], ..Catalog::default() };
        let mut bundle = GzEncoder::new(Vec::new(), Compression::fast());
        bundle.write_all(&serde_json::to_vec(&catalog).unwrap()).unwrap();
        let bundle: &'static [u8] = bundle.finish().unwrap().leak();
        DeclaredDocuments::new(
            vec![bundle].leak(),
            Served::from([(("example.com", "v1"), BTreeSet::from(["widgets"]))]),
        )
    }

    #[test]
    fn outline_has_all_paths() {
        let (declared, options) = (declared(), OpenApiOptions::default());
        let before = declared.outline().v3_paths(&options);
        assert!(before.contains("apis/example.com/v1"), "{before:?}");
        assert_eq!(before, declared.catalog().v3_paths(&options));
    }

    #[test]
    fn documents_only_served_resources() {
        let catalog = declared().catalog();
        let plurals: Vec<_> = catalog.versions[0].resources.iter().map(|resource| resource.plural.as_str()).collect();
        assert_eq!(plurals, ["widgets"]);
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_catalog_while_in_use() {
        let declared = declared();
        let first = Arc::downgrade(&declared.catalog());
        for _ in 0..3 {
            tokio::time::advance(RETENTION * 2 / 3).await;
            tokio::task::yield_now().await;
            assert!(std::ptr::eq(Arc::as_ptr(&declared.catalog()), first.as_ptr()), "it is unpacked once");
        }
        // Paused time advances while all tasks are idle.
        tokio::time::sleep(RETENTION * 2).await;
        assert_eq!(first.strong_count(), 0);
    }
}
