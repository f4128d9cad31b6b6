use percent_encoding::percent_decode_str;

use super::*;

/// How upstream's `RequestInfoFactory` parses generated requests and the corpus of a fuzz target;
/// written by `tests/oracle/requests/main.go`.
const REQUESTS: &str = include_str!("../../../../tests/oracle/requests/requests.tsv");
/// How `url.ParseQuery` parses generated queries, encoded again.
const QUERIES: &str = include_str!("../../../../tests/oracle/requests/queries.tsv");

fn info(method: &str, uri: &str) -> RequestInfo {
    RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap()).unwrap()
}

/// `verb group version namespace resource subresource name`, with dashes for empty values.
fn check(method: &str, uri: &str, expect: &str) {
    let i = info(method, uri);
    let dash = |s: &str| if s.is_empty() { "-".to_owned() } else { s.to_owned() };
    assert!(i.is_resource_request, "{uri}");
    let fields = [&*i.verb, &i.api_group, &i.api_version, &i.namespace, &i.resource, &i.subresource, &i.name];
    assert_eq!(fields.map(dash).join(" "), expect, "{method} {uri}");
}

#[test]
fn resources() {
    check("GET", "/api/v1/pods", "list - v1 - pods - -");
    check("GET", "/api/v1/namespaces/ns/pods", "list - v1 ns pods - -");
    check("GET", "/api/v1/namespaces/ns/pods/", "list - v1 ns pods - -");
    check("HEAD", "/api/v1/namespaces/ns/pods/p", "get - v1 ns pods - p");
    check("GET", "/api/v1/namespaces/ns", "get - v1 ns namespaces - ns");
    check("PUT", "/api/v1/namespaces/ns/finalize", "update - v1 ns namespaces finalize ns");
    check("GET", "/api/v1/namespaces", "list - v1 - namespaces - -");
    check("GET", "/api/v1/namespaces//configmaps", "list - v1 - configmaps - -");
    check("POST", "/apis/apps/v1/namespaces/ns/deployments", "create apps v1 ns deployments - -");
    check("PATCH", "/apis/apps/v1/namespaces/ns/deployments/d/scale", "patch apps v1 ns deployments scale d");
    check("DELETE", "/api/v1/nodes/n", "delete - v1 - nodes - n");
    check("DELETE", "/api/v1/nodes", "deletecollection - v1 - nodes - -");
    check("OPTIONS", "/api/v1/pods", "- - v1 - pods - -");
    check("GET", "/api/v1/namespaces/ns/configmaps%2Fa", "get - v1 ns configmaps - a");
}

#[test]
fn watches() {
    check("GET", "/api/v1/watch/namespaces/ns/pods/p", "watch - v1 ns pods - p");
    check("GET", "/api/v1/pods?watch=true", "watch - v1 - pods - -");
    check("GET", "/api/v1/pods?watch=", "watch - v1 - pods - -");
    check("GET", "/api/v1/pods?watch=0", "list - v1 - pods - -");
    check("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp,spec.nodeName%3Dx", "list - v1 - pods - p");
    check("GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dp", "list - v1 - pods - -");
    check("GET", "/api/v1/pods?fieldSelector=metadata.name%3D..", "list - v1 - pods - -");
}

#[test]
fn parses_selectors_of_collections() {
    let list = info("GET", "/api/v1/pods?labelSelector=a%3Db&fieldSelector=spec.x%3D1");
    let (fields, labels) = list.selectors.both().unwrap();
    assert_eq!((labels.to_string().as_str(), fields.to_string().as_str()), ("a=b", "spec.x=1"));
    assert_eq!(info("GET", "/api/v1/pods/p?labelSelector=a").selectors, RequestSelectors::default());
}

#[test]
fn non_resource_requests() {
    for (method, uri, verb, path) in [
        ("GET", "/", "get", "/"),
        ("GET", "/api/v1", "get", "/api/v1"),
        ("GET", "/apis/apps/v1/", "get", "/apis/apps/v1/"),
        ("POST", "/healthz%20x?verbose", "post", "/healthz x"),
    ] {
        let i = info(method, uri);
        assert_eq!((i.is_resource_request, &*i.verb, i.path.as_str()), (false, verb, path));
    }
    let error = |uri: &str| RequestInfo::new(&Method::GET, &uri.parse().unwrap()).unwrap_err();
    assert_eq!(error("/api/v1/watch").to_string(), "unable to determine kind and namespace from url, /api/v1/watch");
    assert_eq!(error("/a%2"), PathError::Escape);
}

#[test]
fn long_running() {
    for (uri, expect) in [
        ("/api/v1/pods?watch=1", true),
        ("/api/v1/namespaces/n/pods/p/log", true),
        ("/api/v1/namespaces/n/pods/p/status", false),
        ("/debug/pprof/profile", true),
        ("/log", false),
    ] {
        assert_eq!(info("GET", uri).is_long_running(), expect, "{uri}");
    }
}

#[test]
fn tokens_are_redacted() {
    let check = |uri: &str, expect: &str| assert_eq!(shown_target(&uri.parse().unwrap()), expect);
    check("/", "/");
    check("https://host/api?limit=1", "/api?limit=1");
    check("/api?access_token=a.b&limit=1&access_token=", "/api?access_token=REDACTED&limit=1&access_token=REDACTED");
}

/// The columns of a line of the table, unescaped.
fn columns(line: &str) -> Vec<String> {
    let decoded = |column: &str| percent_decode_str(&column.replace('+', " ")).decode_utf8_lossy().into_owned();
    line.split('\t').skip(2).map(decoded).collect()
}

/// The same columns, from this parser.
fn parsed(outcome: &Result<RequestInfo, PathError>) -> Vec<String> {
    let info = match outcome {
        Ok(info) => info,
        Err(PathError::Escape) => return vec!["bad request".into()],
        Err(PathError::NoKind(_)) => return vec!["no request info".into()],
    };
    let kind = if info.is_resource_request { "resource" } else { "path" };
    let depth = info.depth.to_string();
    let fields = [
        kind,
        &info.verb,
        info.api_prefix,
        &info.api_group,
        &info.api_version,
        &info.namespace,
        &info.resource,
        &info.subresource,
        &info.name,
        &depth,
    ];
    fields.map(str::to_owned).to_vec()
}

#[test]
fn parses_requests_as_upstream() {
    for line in REQUESTS.lines() {
        let mut words = line.split('\t');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let outcome = RequestInfo::new(&method.parse().unwrap(), &target.parse().unwrap());
        let expect = columns(line);
        assert_eq!(parsed(&outcome), expect[..expect.len().min(10)], "{method} {target}");
        if let (Ok(info), Some(path)) = (outcome, expect.last()) {
            assert_eq!(&info.path, path, "{target}");
        }
    }
}

#[test]
fn parses_queries_as_go() {
    for line in QUERIES.lines() {
        let (query, expect) = line.split_once('\t').unwrap();
        assert_eq!(Query::parse(query).encode(), expect, "{query}");
    }
}
