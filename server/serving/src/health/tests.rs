use request::Handler;
use request::testing::{request, seen};

use super::*;

async fn get(health: &Health, uri: &str) -> (u16, String) {
    seen(HealthHandler(health.clone()).handle(request("GET", uri)).await).await
}

#[tokio::test]
async fn all_checks_succeed_by_default() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    for (uri, expect) in [
        ("/livez", (200, "ok")),
        ("/healthz", (200, "ok")),
        ("/readyz?exclude=etcd", (200, "ok")),
        ("/livez/etcd?verbose", (200, "ok")),
        ("/readyz/shutdown", (200, "ok")),
        ("/livez/poststarthook/rbac/bootstrap-roles", (200, "ok")),
        ("/livez/shutdown", (404, "404 page not found\n")),
        ("/livez/", (404, "404 page not found\n")),
        ("/livez/nope", (404, "404 page not found\n")),
        ("/livezz", (404, "404 page not found\n")),
    ] {
        assert_eq!(get(&health, uri).await, (expect.0, expect.1.to_owned()), "{uri}");
    }
    let (_, verbose) = get(&health, "/livez?exclude=etcd&exclude=nope&verbose").await;
    assert!(
        verbose.starts_with(
            "[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd excluded: ok\n[+]poststarthook/"
        ),
        "{verbose}"
    );
    assert!(
        verbose.ends_with(
            "ok\nwarn: some health checks cannot be excluded: no matches for \"nope\"\nlivez check passed\n"
        ),
        "{verbose}"
    );
}

#[tokio::test]
async fn endpoints_have_upstream_checks() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    let names = async |uri| get(&health, uri).await.1.lines().filter(|line| line.starts_with("[+]")).count();
    assert_eq!(
        (names("/livez?verbose").await, names("/healthz?verbose").await, names("/readyz?verbose").await),
        (34, 34, 36)
    );
}

#[tokio::test]
async fn checks_without_livez_do_not_fail_livez() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    health.add_without_livez("kms-providers", || Err("gone".into()));
    assert_eq!(get(&health, "/livez").await.0, 200);
    for endpoint in ["/healthz", "/readyz"] {
        let (code, text) = get(&health, endpoint).await;
        assert_eq!(code, 500);
        assert!(
            text.contains("]etcd-readiness ok\n[-]kms-providers failed")
                || text.contains("]etcd ok\n[-]kms-providers failed"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn failed_check_fails_endpoint() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    health.set("etcd", || Err("disk full".into()));
    let (code, text) = get(&health, "/livez").await;
    assert_eq!(code, 500);
    assert!(text.contains("[-]etcd failed: reason withheld\n") && text.ends_with("livez check failed\n"), "{text}");
    assert_eq!(get(&health, "/livez/etcd").await, (500, "internal server error: disk full\n".into()));
    assert_eq!(get(&health, "/livez?exclude=etcd").await.0, 200);
}

#[tokio::test]
async fn pending_check_fails_until_done() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    let hook = health.pending("poststarthook/rbac/bootstrap-roles");
    assert_eq!(get(&health, "/readyz").await.0, 500);
    hook.done();
    assert_eq!(get(&health, "/readyz").await.0, 200);
}

#[tokio::test]
async fn livez_ignores_pending_checks_in_grace_period() {
    let health = Health::new(options::ServerProgram::KubeApiserver, &Shutdown::default());
    let health = health.with_livez_grace(std::time::Duration::from_secs(3600));
    let _pending = health.pending("poststarthook/rbac/bootstrap-roles");
    assert_eq!((get(&health, "/livez").await.0, get(&health, "/readyz").await.0), (200, 500));
    health.set("etcd", || Err("disk full".into()));
    assert_eq!(get(&health, "/livez").await.0, 500);
}

#[tokio::test]
async fn readyz_fails_during_shutdown() {
    let shutdown = Shutdown::default();
    let health = Health::new(options::ServerProgram::KubeApiserver, &shutdown);
    shutdown.initiate();
    assert_eq!((get(&health, "/readyz").await.0, get(&health, "/livez").await.0), (500, 200));
}
