use std::path::PathBuf;
use std::time::Duration;

use webhook::ReviewServer;

use super::*;
use crate::{AuditMode, AuthorizationMode, EtcdOverride, SniCertificate, ValueError};

fn parse(args: &[&str]) -> Result<Options, Error> {
    Options::parse_from(std::iter::once(&"kube-apiserver").chain(args))
}

#[track_caller]
fn check_error(args: &[&str], expect: &str) {
    assert_eq!(parse(args).map(|_| "accepted").unwrap_err().to_string(), expect);
}

#[test]
fn defaults_without_flags() {
    let o = parse(&[]).unwrap();
    assert_eq!((o.serving.bind_address.to_string().as_str(), o.serving.secure_port), ("127.0.0.1", 6443));
    assert_eq!(o.serving.cert_dir, PathBuf::from("kube-apiserver-data/pki"));
    assert_eq!(o.authorization.modes, [AuthorizationMode::Rbac]);
    assert_eq!(o.requests.request_timeout, Duration::from_secs(60));
    assert_eq!(o.requests.min_request_timeout, Duration::from_secs(1800));
    assert_eq!((o.requests.max_in_flight, o.requests.max_mutating_in_flight), (400, 200));
    assert_eq!(o.services.cluster_ip_ranges[0].to_string(), "10.0.0.0/24");
    assert_eq!(o.services.node_port_range.to_string(), "30000-32767");
    assert_eq!(o.authentication.service_account_issuers, ["https://kubernetes.default.svc"]);
    assert_eq!(o.authentication.api_audiences, ["https://kubernetes.default.svc"]);
    assert!(o.authentication.anonymous && o.profiling && !o.allow_privileged && o.serving.http2);
    assert_eq!(
        (o.storage.prefix.as_str(), o.serving.http2_max_streams, o.event_ttl.as_secs()),
        ("/registry", 250, 3600)
    );
}

#[test]
fn store_is_served_on_loopback_or_with_certificates() {
    let listen = parse(&["--etcd-listen-client-urls=http://127.0.0.1:2379,http://[::1]:2379,http://localhost:1"]);
    assert_eq!(listen.unwrap().storage.listen.urls.len(), 3);
    let files = ["--etcd-listen-cert-file=c", "--etcd-listen-key-file=k", "--etcd-listen-trusted-ca-file=a"];
    let https = "--etcd-listen-client-urls=https://10.0.0.1:2379";
    assert!(parse(&[https, files[0], files[1], files[2]]).is_ok());
    for flags in [&[https][..], &[https, files[0], files[1]], &["--etcd-listen-client-urls=http://10.0.0.1:2379"]] {
        let error = parse(flags).map(|_| "accepted").unwrap_err().to_string();
        assert!(error.contains("the store has secrets"), "{flags:?}: {error}");
    }
    let both = parse(&["--etcd-listen-client-urls=http://localhost:1", "--etcd-servers=http://localhost:2"]);
    assert!(both.map(|_| "accepted").unwrap_err().to_string().contains("replaces that store"));
}

#[test]
fn flags_have_go_syntax() {
    let o = parse(&[
        "--secure_port",
        "7443",
        "--anonymous-auth=false",
        "--profiling",
        "-v",
        "4",
        "--bind-address=::1",
        "--event-ttl=90m",
    ])
    .unwrap();
    assert_eq!(
        (o.serving.secure_port, o.authentication.anonymous, o.profiling, o.logs.verbosity),
        (7443, false, true, 4)
    );
    assert_eq!((o.serving.bind_address.to_string().as_str(), o.event_ttl.as_secs()), ("::1", 5400));
    let o =
        parse(&["--api-audiences=one,two", "--api-audiences", "three", "--secure-port=1", "--secure-port=2"]).unwrap();
    assert_eq!(
        (o.authentication.api_audiences, o.serving.secure_port),
        (vec!["one".into(), "two".into(), "three".into()], 2)
    );
}

#[test]
fn parses_lists() {
    let o = parse(&[
        "--runtime-config=batch/v1=false,api/all=true",
        "--service-cluster-ip-range=10.0.0.0/16,fd00:10::/112",
        "--enable-admission-plugins=NodeRestriction",
        "--disable-admission-plugins=Priority",
        "--service-account-issuer=https://a",
        "--service-account-issuer=https://b",
        "--watch-cache-sizes=pods#100,deployments.apps#7",
        "--authorization-mode=AlwaysAllow,RBAC",
    ])
    .unwrap();
    assert_eq!(o.runtime_config, [("batch/v1".into(), false), ("api/all".into(), true)]);
    assert_eq!(o.services.cluster_ip_ranges.len(), 2);
    assert!(o.admission.runs("NodeRestriction") && !o.admission.runs("Priority") && o.admission.runs("ServiceAccount"));
    assert!(!o.admission.runs("AlwaysDeny"));
    assert_eq!(o.authentication.service_account_issuers, ["https://a", "https://b"]);
    assert_eq!(o.storage.watch_cache_sizes, [("pods".into(), 100), ("deployments.apps".into(), 7)]);
    assert_eq!(o.authorization.modes, [AuthorizationMode::AlwaysAllow, AuthorizationMode::Rbac]);
}

#[test]
fn errors_name_flag_and_value() {
    check_error(
        &["--anonymous-auth=maybe"],
        r#"invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax"#,
    );
    check_error(
        &["--request-timeout=5"],
        r#"invalid argument "5" for "--request-timeout" flag: time: missing unit in duration "5""#,
    );
    check_error(
        &["--feature-gates=NoSuch=true"],
        r#"invalid argument "NoSuch=true" for "--feature-gates" flag: unrecognized feature gate: NoSuch"#,
    );
    check_error(&["--enable-admission-plugins=NoSuch"], r#"enable-admission-plugins plugin "NoSuch" is unknown"#);
    check_error(
        &["--storage-media-type=text/plain"],
        r#"--storage-media-type "text/plain" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf"#,
    );
    check_error(
        &["--encryption-provider-config-automatic-reload"],
        "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
    );
    check_error(
        &["--watch-cache=false"],
        r#"invalid argument "false" for "--watch-cache" flag: reads are always served from memory, write true"#,
    );
    check_error(
        &["--emulated-version=kube=1.35"],
        r#"invalid argument "kube=1.35" for "--emulated-version" flag: "kube=1.35" is not served, write kube=1.36"#,
    );
    check_error(
        &["--show-hidden-metrics-for-version=1.34"],
        "--show-hidden-metrics-for-version must be omitted or have the value '1.35'. Only the previous minor version is allowed",
    );
    check_error(
        &["--kubernetes-service-node-port=80"],
        "kubernetes service node port range 30000-32767 doesn't contain 80",
    );
    check_error(&["--authorization-mode=Magic"], r#"authorization-mode "Magic" is not a valid mode"#);
    check_error(&["--authorization-mode=ABAC"], "authorization-mode ABAC's authorization policy file not passed");
    check_error(
        &["--authorization-webhook-config-file=x"],
        "cannot specify --authorization-webhook-config-file without mode Webhook",
    );
    check_error(
        &["--oidc-client-id=x"],
        "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
    );
    check_error(&["--tls-cert-file=x"], "--tls-cert-file and --tls-private-key-file must be given together");
    check_error(
        &["--service-cluster-ip-range=10.0.0.0/30"],
        "specified --service-cluster-ip-range; 10.0.0.0/30 is too small: at least 8 IP addresses are needed",
    );
    check_error(
        &["--max-requests-inflight=0", "--max-mutating-requests-inflight=0"],
        "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive",
    );
    check_error(&["--goaway-chance=0.5"], "--goaway-chance can not be less than 0 or greater than 0.02");
}

#[test]
fn peers() {
    let o = parse(&["--peer-advertise-ip=10.0.0.1"]).unwrap();
    assert!(o.peers.enabled && o.peers.advertised.is_none() && o.peers.ca_file.is_none());
    let proxy = ["--proxy-client-cert-file=c", "--proxy-client-key-file=k"];
    let address = ["--peer-advertise-ip=10.0.0.1", "--peer-advertise-port=6444", "--hostname-override=one"];
    let o = parse(&[&proxy[..], &address, &["--peer-ca-file=x"]].concat()).unwrap();
    assert_eq!(o.peers.advertised, Some(("10.0.0.1".into(), 6444)));
    assert_eq!((o.peers.ca_file, &*o.serving.hostname), (Some("x".into()), "one"));
    check_error(&["--peer-ca-file=x"], "error building peer proxy handler, proxy-cert-file not specified");
    let off = "--feature-gates=UnknownVersionInteroperabilityProxy=false";
    for flag in ["--peer-ca-file", "--peer-advertise-ip", "--peer-advertise-port"] {
        let why = format!("{flag} requires UnknownVersionInteroperabilityProxy feature to be turned on");
        check_error(&[off, &format!("{flag}=x")], &why);
    }
    assert!(!parse(&[off]).unwrap().peers.enabled);
}

#[test]
fn reports_all_errors_together() {
    check_error(
        &["--anonymous-auth=maybe", "--request-timeout=5", "--goaway-chance=1", "--authorization-mode=Magic"],
        "the command line has 4 mistakes:\n  \
         invalid argument \"5\" for \"--request-timeout\" flag: time: missing unit in duration \"5\"\n  \
         invalid argument \"maybe\" for \"--anonymous-auth\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax\n  \
         authorization-mode \"Magic\" is not a valid mode\n  \
         --goaway-chance can not be less than 0 or greater than 0.02",
    );
}

#[test]
fn errors_have_kinds_and_context() {
    let Err(Error::Flags(errors)) = parse(&["--request-timeout=5", "--authorization-mode=Magic"]) else {
        panic!("invalid flags are rejected")
    };
    let errors: Vec<&FlagError> = errors.iter().collect();
    let [FlagError::Value { flag, value, reason }, FlagError::AuthorizationMode { name }] = errors[..] else {
        panic!("{errors:?}")
    };
    assert!(matches!(reason, ValueError::Scalar(_)), "{reason:?}");
    assert_eq!((flag.as_str(), value.as_str(), name.as_str()), ("request-timeout", "5", "Magic"));
    assert!(matches!(parse(&["--no-such-flag"]), Err(Error::Usage(_))));
}

#[test]
fn rejects_unsupported_values_of_fixed_flags() {
    let fine = [
        "--min-compatibility-version=kube=1.35",
        "--contention-profiling=false",
        "--storage-initialization-timeout=2m",
        "--apiserver-count=3",
        "--coordinated-leadership-lease-duration=20s",
        "--emulation-forward-compatible=false",
    ];
    let o = parse(&fine).unwrap();
    assert_eq!(
        o.deprecated,
        [
            "Flag --apiserver-count has been deprecated, apiserver-count is deprecated and will be removed in a future version."
        ]
    );
    let same = "cannot be set to true if the emulation version is the same as the binary version";
    check_error(&["--emulation-forward-compatible"], &format!("ServerRunOptions.EmulationForwardCompatible {same}"));
    check_error(
        &["--runtime-config-emulation-forward-compatible"],
        &format!("ServerRunOptions.RuntimeConfigEmulationForwardCompatible {same}"),
    );
    check_error(&["--apiserver-count=0"], "--apiserver-count should be a positive number, but value '0' provided");
    check_error(
        &["--coordinated-leadership-lease-duration=5s"],
        "--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline",
    );
    check_error(
        &["--feature-gates=CoordinatedLeaderElection=true", "--coordinated-leadership-retry-period=1s"],
        "--coordinated-leadership-retry-period is not supported yet with CoordinatedLeaderElection: see docs/status.md",
    );
    check_error(
        &["--contention-profiling"],
        r#"invalid argument "true" for "--contention-profiling" flag: contention is not profiled, write false"#,
    );
    check_error(
        &["--min-compatibility-version=1.34"],
        r#"invalid argument "1.34" for "--min-compatibility-version" flag: "1.34" is not served, write kube=1.35"#,
    );
}

#[test]
fn admission_control_flag_replaces_defaults() {
    let o = parse(&["--admission-control=AlwaysPullImages,LimitRanger"]).unwrap().admission;
    assert!(o.runs("AlwaysPullImages") && o.runs("LimitRanger") && !o.runs("ServiceAccount"));
    check_error(
        &["--admission-control=LimitRanger", "--enable-admission-plugins=LimitRanger"],
        "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive",
    );
    check_error(&["--admission-control=NoSuch"], r#"admission-control plugin "NoSuch" is unknown"#);
}

#[test]
fn labels_of_metrics() {
    let allowed = |flags: &[&str]| parse(flags).unwrap().metrics.allowed;
    let of = |metric: &str, label: &str, values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        ((metric.to_owned(), label.to_owned()), values)
    };
    let expect = [of("a_total", "code", &["200", "404"]), of("b_total", "verb", &["GET"])];
    for flags in [
        &["--allow-metric-labels=a_total,code=200,404", "--allow-metric-labels=b_total,verb='GET'"][..],
        &["--allow-metric-labels=\"a_total,code=200,404\",\"b_total,verb=GET\""],
    ] {
        assert_eq!(allowed(flags).into_iter().collect::<Vec<_>>(), expect);
    }
    let manifest = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(manifest.path(), "\"a_total,code\": 200,404\n\"b_total,verb\": GET\n").unwrap();
    let file = format!("--allow-metric-labels-manifest={}", manifest.path().display());
    assert_eq!(allowed(&[&file]).into_iter().collect::<Vec<_>>(), expect);
    check_error(
        &["--allow-metric-labels=a_total,code=200", &file],
        "cannot specify both allowListMapping and allowListMappingManifest",
    );
    check_error(
        &["--allow-metric-labels=a_total"],
        r#"invalid argument "a_total" for "--allow-metric-labels" flag: a_total must be formatted as key=value"#,
    );
    assert!(
        parse(&["--allow-metric-labels=a-total,code=200"])
            .unwrap_err()
            .to_string()
            .contains("must have keys with format")
    );
}

#[test]
fn audit() {
    let o = parse(&["--audit-policy-file=p", "--audit-log-path=-", "--audit-webhook-config-file=w"]).unwrap().audit;
    let (log, webhook) = (o.log.unwrap(), o.webhook.unwrap());
    let rotation = log.rotation.unwrap();
    assert_eq!((rotation.max_bytes, rotation.max_age_days, rotation.max_backups), (100 << 20, Some(366), Some(100)));
    assert!(matches!(log.delivery.mode, AuditMode::Blocking) && log.delivery.limits.is_none());
    let AuditMode::Batch(batch) = webhook.delivery.mode else { panic!("batches by default") };
    assert_eq!((batch.buffer, batch.max_events, batch.max_wait.as_secs()), (10_000, 400, 30));
    assert_eq!((batch.throttle, webhook.initial_backoff.as_secs()), (Some((10.0, 15)), 10));
    assert!(parse(&["--audit-log-mode=odd"]).is_ok(), "as upstream, what is not used is not looked at");
    for (flag, expect) in [
        ("--audit-log-mode=odd", "invalid audit log mode odd, allowed modes are \"batch,blocking,blocking-strict\""),
        ("--audit-log-format=odd", "invalid audit log format odd, allowed formats are \"legacy,json\""),
        ("--audit-log-version=v2", "invalid group version, allowed versions are [\"audit.k8s.io/v1\"]"),
        ("--audit-log-maxage=-1", "--audit-log-maxage -1 can't be a negative number"),
        (
            "--audit-log-truncate-max-event-size=0",
            "invalid audit truncate log max event size 0, must be a positive number",
        ),
        (
            "--audit-log-truncate-max-batch-size=9",
            "invalid audit truncate log max batch size 9, must be greater than max event size (102400)",
        ),
        ("--audit-webhook-batch-max-size=0", "invalid audit batch webhook max batch size 0, must be a positive number"),
    ] {
        check_error(&["--audit-log-path=x", "--audit-webhook-config-file=w", flag], expect);
    }
}

#[test]
fn etcd() {
    let o = parse(&[
        "--storage-backend=etcd3",
        "--etcd-servers=http://a:2379,http://b:2379",
        "--etcd-servers-overrides=/events#http://c:2379;http://d:2379,apps/deployments#http://e:2379",
        "--etcd-compaction-interval=0",
    ])
    .unwrap()
    .storage;
    assert_eq!(o.etcd.servers, ["http://a:2379", "http://b:2379"]);
    let named = |group: &str, resource: &str, servers: &[&str]| EtcdOverride {
        group: group.into(),
        resource: resource.into(),
        servers: servers.iter().map(|url| (*url).to_owned()).collect(),
    };
    let overrides =
        [named("", "events", &["http://c:2379", "http://d:2379"]), named("apps", "deployments", &["http://e:2379"])];
    assert_eq!(o.etcd.overrides, overrides);
    assert_eq!((o.compaction_interval, o.health_timeout.as_secs()), (None, 2));
    check_error(&["--storage-backend=etcd3"], "--etcd-servers must be specified");
    check_error(
        &["--storage-backend=etcd2"],
        "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
    );
    check_error(&["--etcd-certfile=x"], "--etcd-certfile and --etcd-keyfile must be given together");
    let form = "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated";
    for malformed in ["events#http://c", "/events", "/events#", "/events#a;;b", "/events#a#b", "a/b/c#d"] {
        check_error(&[&format!("--etcd-servers-overrides={malformed}")], form);
    }
}

#[test]
fn delegating_program_has_its_own_flags() {
    let parse = |flags: &[&str]| {
        Options::parse_for(ServerProgram::Delegating("shop"), &KnownGates::default(), [&["shop"], flags].concat())
    };
    let o = parse(&["--kubeconfig=main", "--authorization-kubeconfig=rights", "--etcd-servers=http://a:2379"]).unwrap();
    let of = |file: &str| ReviewServer::ApiServer(Some(file.into()));
    assert_eq!(o.authentication.delegation.unwrap().server, of("main"));
    assert_eq!(o.authentication.webhook.unwrap().server, of("main"));
    let webhook = o.authorization.webhook.unwrap();
    assert_eq!((webhook.server, webhook.allowed.as_secs()), (of("rights"), 10));
    assert_eq!(o.authorization.always_allowed_paths, ["/healthz", "/readyz", "/livez"]);
    assert!(o.authentication.service_account_issuers.is_empty() && !o.requests.priority_and_fairness);
    assert_eq!(parse(&[]).unwrap().authentication.delegation.unwrap().server, ReviewServer::ApiServer(None));
    for flag in ["--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--token-auth-file=x"] {
        assert!(parse(&[flag]).unwrap_err().to_string().contains("unexpected argument"), "{flag}");
    }
    let Err(Error::Print(help)) = parse(&["--help"]) else { panic!("help is printed") };
    assert!(help.contains("--authentication-kubeconfig") && !help.contains("--kubelet-port"), "{help}");
    assert!(help.contains("shop convert|help|kubeconfig|probe|snapshot"), "{help}");
}

#[test]
fn suggests_known_flag_for_unknown_one() {
    let error = parse(&["--secure-prt=1"]).unwrap_err().to_string();
    assert!(error.contains("--secure-prt") && error.contains("'--secure-port'"), "{error}");
    assert!(parse(&["stray"]).is_err());
}

#[test]
fn help_and_version_are_printed() {
    let text = |flag: &str| match Options::parse_from(["kube-apiserver", flag]) {
        Err(Error::Print(text)) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text("--version"), "Kubernetes v1.36.2");
    let help = text("--help");
    assert!(help.contains("Secure serving flags:") && help.contains("--tls-cert-file <FILE>"), "{help}");
}

#[test]
fn first_word_may_be_a_subcommand() {
    let args: Vec<OsString> = ["convert", "--to", "x"].map(OsString::from).to_vec();
    assert_eq!(subcommand(&args), Some(("convert", &args[1..])));
    assert_eq!(subcommand(&args[1..]), None);
    assert_eq!(subcommand(&[]), None);
}

#[test]
fn tls() {
    let serving = |flags: &[&str]| parse(flags).unwrap().serving;
    let o = serving(&[
        "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256",
        "--tls-curve-preferences=29,23",
        "--tls-sni-cert-key=a.crt,a.key",
        "--tls-sni-cert-key=b.crt,b.key:*.B.test,c.test",
    ]);
    assert_eq!((o.cipher_suites.len(), o.key_exchange_groups.len(), o.tls13_only), (2, 2, false));
    let expect = SniCertificate {
        certificate: "b.crt".into(),
        key: "b.key".into(),
        names: vec!["*.b.test".into(), "c.test".into()],
    };
    assert!(o.sni.len() == 2 && o.sni[0].names.is_empty() && o.sni[1] == expect, "{:?}", o.sni);
    for flags in [
        ["--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA", "is weak and not supported"],
        ["--tls-cipher-suites=TLS_NONE", "Cipher suite TLS_NONE not supported or doesn't exist"],
        ["--tls-min-version=VersionTLS11", "VersionTLS11 is not supported"],
        ["--tls-min-version=SSL3", "unknown tls version \"SSL3\""],
        ["--tls-curve-preferences=25", "curve 25 is not supported"],
        ["--tls-sni-cert-key=a.crt", "expected comma separated certificate and key file paths"],
    ] {
        let error = parse(&flags[..1]).unwrap_err().to_string();
        assert!(error.contains(flags[1]), "{error}");
    }
}

#[test]
fn console_is_served_where_the_server_keeps_its_objects() {
    let ui = |flags: &[&str]| parse(flags).unwrap().ui;
    assert!(ui(&[]));
    assert!(!ui(&["--ui=false"]));
    assert!(!ui(&["--etcd-servers=http://127.0.0.1:2379"]));
    assert!(ui(&["--etcd-servers=http://127.0.0.1:2379", "--ui"]));
}
