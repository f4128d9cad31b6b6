#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;

use prometheus::Registry;

use crate::cbc::Cbc;
use crate::config::EncryptionConfiguration;
use crate::error::Error;
use crate::gcm::Gcm;
use crate::loaded::Loaded;
use crate::metrics::Metrics;
use crate::secretbox::Secretbox;
use crate::seed::Seed;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

const VALUE: &[u8] = b"k8s\0a value of more than one block";
const KEY: &[u8] = b"/registry/secrets/default/a";

fn at(key: &[u8]) -> ValueContext<'_> {
    ValueContext { key, resource: "secrets" }
}

/// Returns the bytes 1, 2, 3 and so on.
fn key(length: u8) -> Vec<u8> {
    (1..=length).collect()
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The values were written with Go's crypto/aes, crypto/cipher, crypto/hkdf and
/// x/crypto/nacl/secretbox, as upstream does.
#[tokio::test]
async fn values_written_by_upstream_are_read() {
    let secretbox = Secretbox::new(&key(32).try_into().unwrap());
    let cases: [(&str, Arc<dyn Transformer>, bool, &str); 8] = [
        (
            "aesgcm, 16 bytes",
            Arc::new(Gcm::new(&key(16)).unwrap()),
            true,
            "6465666768696a6b6c6d6e6f40608ff8ec140a41c3210e207544f938a71b8d6745c5aab0740ec6812518440ff4e21c691941f074e759c5c502d7111ebef3",
        ),
        (
            "aesgcm, 24 bytes",
            Arc::new(Gcm::new(&key(24)).unwrap()),
            true,
            "6465666768696a6b6c6d6e6fcf100da6fc8f86334bf7c19fd9df3fb231ed6e68fae4015f57ed4ade3c8399ecf1705d3149df279eec13032b58589b82a3d9",
        ),
        (
            "aesgcm, 32 bytes",
            Arc::new(Gcm::new(&key(32)).unwrap()),
            true,
            "6465666768696a6b6c6d6e6f0b67004cf0a2ca189422cab8774ad8519bed7deb8b8e966f80bd8c9a5983851c1ceb23ad07d00afab58874ac3d4b0bd5bf97",
        ),
        (
            "aescbc, 16 bytes",
            Arc::new(Cbc::new(key(16))),
            false,
            "32333435363738393a3b3c3d3e3f4041d04198c3d9b98266c99ca068b1b96db06557b43042d1898ddc57204abb7cca0da4d709fe4403a72f0af009df0078c31c",
        ),
        (
            "aescbc, 24 bytes",
            Arc::new(Cbc::new(key(24))),
            false,
            "32333435363738393a3b3c3d3e3f40414e4bdbb5c33d0de808cf81b79f98827a01704d7b84c742e02ddbf9bcaccb6d5f3f02d4aec4f7d269c869b8261e6c73c6",
        ),
        (
            "aescbc, 32 bytes",
            Arc::new(Cbc::new(key(32))),
            false,
            "32333435363738393a3b3c3d3e3f4041983275bc09ee2de15d51b2a0688cb9084365e5c5ed65429ebed9a9b0726686a9e359a93002b75bbaddf6a7b7a3e03be1",
        ),
        (
            "secretbox",
            Arc::new(secretbox),
            false,
            "0708090a0b0c0d0e0f101112131415161718191a1b1c1d1ed2624eb46ac5f3cba940afc0f71c7ed6ec4d6b48fce973abd1bedd152f21610effdfc9cb8f266a8b5cbc2312d4333c1ec682",
        ),
        (
            "a seed",
            Arc::new(Seed::new(&key(32)).unwrap()),
            true,
            "c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e76465666768696a6b6c6d6e6f8e8a5045531dd141e7e929940ff52838a74eacf76c070605c43d7887d7e58c04651d982223d22e9950bf670615f941ef6f85",
        ),
    ];
    for (name, transformer, authenticates, stored) in cases {
        let stored = from_hex(stored);
        let plain = || Ok(DecryptedValue::current(VALUE.to_vec()));
        assert_eq!(transformer.read(&stored, at(KEY)).await, plain(), "{name}");
        let moved = transformer.read(&stored, at(b"/registry/secrets/default/b")).await;
        assert_eq!(moved.is_err(), authenticates, "{name}: a value at another key");
        let written = transformer.write(VALUE, at(KEY)).unwrap();
        assert_eq!(written.len(), stored.len(), "{name}");
        assert_ne!(written, transformer.write(VALUE, at(KEY)).unwrap(), "{name}: nothing is random");
        assert_eq!(transformer.read(&written, at(KEY)).await, plain(), "{name}");
        for length in 0..stored.len() {
            let cut = transformer.read(&stored[..length], at(KEY)).await;
            assert_ne!(cut, plain(), "{name}: {length} bytes of it");
        }
    }
}

fn loaded(text: &str) -> Result<Loaded, Error> {
    let metrics = Metrics::new(&Registry::new(), "apiserver-a");
    let config = EncryptionConfiguration::parse(text.as_bytes(), false)?;
    Loaded::new(&config, String::new(), &metrics)
}

/// Loads a configuration for secrets with providers in YAML's flow style.
fn for_secrets(providers: &str) -> Loaded {
    let head = "{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration";
    loaded(&format!("{head}, resources: [{{resources: [secrets], providers: [{providers}]}}]}}")).unwrap()
}

const ONE: &str = "{name: one, secret: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=}";
const TWO: &str = "{name: two, secret: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=}";

#[tokio::test]
async fn keys_and_providers_are_rotated() {
    let cbc = |keys: &str| format!("{{aescbc: {{keys: [{keys}]}}}}");
    let first = for_secrets(&cbc(ONE));
    let stored = first.rules.find("secrets").unwrap().write(VALUE, at(KEY)).unwrap();
    assert!(stored.starts_with(b"k8s:enc:aescbc:v1:one:"), "{}", stored.escape_ascii());
    let identity = "{identity: {}}";
    for (providers, expect) in [
        (cbc(ONE), Ok(false)),
        (cbc(&format!("{ONE}, {TWO}")), Ok(false)),
        (cbc(&format!("{TWO}, {ONE}")), Ok(true)),
        (format!("{}, {}", cbc(TWO), cbc(ONE)), Ok(true)),
        (format!("{identity}, {}", cbc(ONE)), Ok(true)),
        (format!("{{secretbox: {{keys: [{TWO}]}}}}, {}", cbc(ONE)), Ok(true)),
        (cbc(TWO), Err("no matching key was found for the provided AES transformer")),
        (format!("{{secretbox: {{keys: [{ONE}]}}}}"), Err("no matching prefix found")),
        (identity.to_owned(), Err("no matching prefix found")),
    ] {
        let loaded = for_secrets(&providers);
        let read = loaded.rules.find("secrets").unwrap().read(&stored, at(KEY)).await;
        let seen = read.as_ref().map(|plain| plain.stale).map_err(ToString::to_string);
        assert_eq!(seen, expect.map_err(str::to_owned), "{providers}");
        assert!(read.is_err() || read.unwrap().value == VALUE, "{providers}");
    }
    let read = for_secrets(&format!("{}, {identity}", cbc(ONE)));
    let plain = read.rules.find("secrets").unwrap().read(VALUE, at(KEY)).await.unwrap();
    assert_eq!(plain, DecryptedValue { value: VALUE.to_vec(), stale: true }, "an unencrypted value is stale");
}

#[test]
fn earlier_rules_must_not_mask_later_ones() {
    let providers = "providers: [{identity: {}}]";
    let with = |first: &str, second: &str| {
        let head = "{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration";
        let rule = |names: &str| format!("{{resources: [{names}], {providers}}}");
        loaded(&format!("{head}, resources: [{}, {}]}}", rule(first), rule(second)))
            .map(|_| ())
            .map_err(|why| why.to_string())
    };
    for (first, second, expect) in [
        ("secrets", "'*.*'", Ok(())),
        ("secrets", "secrets", Ok(())),
        ("'*.'", "secrets", Err(r#"resource "secrets" is masked by earlier rule "*.""#)),
        ("'*.apps'", "deployments.apps", Err(r#"resource "deployments.apps" is masked by earlier rule "*.apps""#)),
        ("'*.*'", "'*.apps'", Err(r#"resource "*.apps" is masked by earlier rule "*.*""#)),
    ] {
        assert_eq!(with(first, second), expect.map_err(str::to_owned), "{first}, {second}");
    }
}
