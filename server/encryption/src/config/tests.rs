use super::*;

const KEYS: &str = "{keys: [{name: a, secret: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=}]}";

fn parse(text: &str) -> Result<(), Error> {
    EncryptionConfiguration::parse(text.as_bytes(), false).map(|_| ())
}

/// Checks the error of one rule in YAML's flow style.
fn check(rule: &str, expect: &str) {
    let text =
        format!("{{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{rule}]}}");
    assert_eq!(parse(&text).err().map(|why| why.to_string()).unwrap_or_default(), expect, "{rule}");
}

fn check_provider(provider: &str, expect: &str) {
    check(&format!("{{resources: [secrets], providers: [{provider}]}}"), expect);
}

#[test]
fn configurations_have_one_kind_and_are_decoded_strictly() {
    for (text, expect) in [
        ("apiVersion: apiserver.config.k8s.io/v1", "Object 'Kind' is missing"),
        ("kind: EncryptionConfiguration", "Object 'apiVersion' is missing"),
        (
            "{apiVersion: apiserver.config.k8s.io/v2, kind: EncryptionConfiguration}",
            r#"no kind "EncryptionConfiguration" is registered for version "apiserver.config.k8s.io/v2""#,
        ),
        ("{apiVersion: v1, kind: EncryptionConfig}", "resources: Required value: at least one resources is required"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expect, "{text}");
    }
    for text in [
        "{kind: a, kind: b}",
        "{kind: a, apiVersion: b, extra: 1}",
        "{kind: a, apiVersion: b, resources: [{names: []}]}",
    ] {
        let why = parse(text).unwrap_err().to_string();
        assert!(why.starts_with("strict decoding error: ") || why.contains("already set in map"), "{text}: {why}");
    }
}

#[test]
fn resource_names_are_validated_as_upstream_does() {
    let of = |resources: &str| format!("{{resources: [{resources}], providers: [{{identity: {{}}}}]}}");
    let path = "resources[0].resources";
    for (resources, expect) in [
        ("secrets, pandas.example.com, '*.apps'", String::new()),
        ("'*.*'", String::new()),
        ("", format!("{path}: Required value: at least one {path} is required")),
        ("Secrets", format!("{path}[0]: Invalid value: \"Secrets\": resource name should not contain capital letters")),
        (
            "'*'",
            format!(
                "{path}[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
            ),
        ),
        (
            "serviceipallocations",
            format!(
                "{path}[0]: Invalid value: \"serviceipallocations\": resources which do not have REST API/s cannot be encrypted"
            ),
        ),
        (
            "secrets.*",
            format!(
                "{path}[0]: Invalid value: \"secrets.*\": encrypting the same resource across groups is not supported"
            ),
        ),
        (
            "events.events.k8s.io",
            format!(
                "{path}[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
            ),
        ),
        (
            "secrets, secrets",
            format!(
                "{path}: Invalid value: [\"secrets\",\"secrets\"]: the same resource cannot be specified multiple times"
            ),
        ),
        (
            "secrets, '*.'",
            format!(
                "{path}: Invalid value: [\"secrets\",\"*.\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
            ),
        ),
    ] {
        check(&of(resources), &expect);
    }
}

#[test]
fn providers_are_validated() {
    let path = "resources[0].providers[0]";
    check(
        "{resources: [secrets]}",
        "resources[0].providers: Required value: at least one resources[0].providers is required",
    );
    check_provider(&format!("{{aescbc: {KEYS}}}, {{secretbox: {KEYS}}}, {{identity: {{}}}}"), "");
    check_provider(
        "{}",
        &format!(
            "{path}: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
        ),
    );
    check_provider(
        &format!("{{aescbc: {KEYS}, aesgcm: {KEYS}}}"),
        &format!(
            "{path}: Invalid value: more than one provider specified in a single element, should split into different list elements"
        ),
    );
    check_provider(
        "{aesgcm: {keys: []}}",
        &format!("{path}.aesgcm.keys: Required value: at least one keys is required"),
    );
    check_provider(
        "{aescbc: {keys: [{secret: '%'}, {name: b}, {name: c, secret: AQID}]}}",
        &format!(
            "[{path}.aescbc.keys[0].name: Required value: name is a mandatory field for a key, {path}.aescbc.keys[0].secret: Invalid value: \"REDACTED\": secrets must be base64 encoded, {path}.aescbc.keys[1].secret: Required value: secret is a mandatory field for a key, {path}.aescbc.keys[2].secret: Invalid value: \"REDACTED\": secret is not of the expected length, got 3, expected one of [16 24 32]]"
        ),
    );
    check_provider("{kms: {apiVersion: v2, name: a, endpoint: unix:///a.sock, timeout: 5s}}", "");
    check_provider(
        "{kms: {apiVersion: v3, name: 'a:b', endpoint: 'http://a', timeout: 0s, cachesize: 3}}",
        &format!(
            "[{path}.kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':', {path}.kms.timeout: Invalid value: \"0s\": timeout should be a positive value, {path}.kms.endpoint: Invalid value: \"http://a\": unsupported scheme \"http\" for KMS provider, only unix is supported, {path}.kms.cachesize: Invalid value: 3: cachesize is not supported in v2, {path}.kms.apiVersion: Invalid value: \"v3\": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported]"
        ),
    );
    let kms = "{kms: {apiVersion: v2, name: a, endpoint: unix:///a.sock}}";
    check_provider(
        &format!("{kms}, {kms}"),
        "resources[0].providers[1].kms.name: Invalid value: \"a\": duplicate KMS provider name a, names must be unique",
    );
}
