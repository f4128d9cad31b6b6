use super::testing::{ALWAYS, TestAuthority, authorities, clock};
use super::*;

/// The name of the user, or a short form of the error.
const EXPIRED: &str = "verifying the client certificate: invalid peer certificate: certificate expired";

fn seen(certificate: &ClientCertificate) -> String {
    match certificate {
        ClientCertificate::Valid(user) => user.name.clone(),
        ClientCertificate::Invalid(why) if why.contains("UnknownIssuer") => "unknown issuer".into(),
        ClientCertificate::Invalid(why) if why.starts_with(EXPIRED) => "expired".into(),
        ClientCertificate::Invalid(why) if why.contains("not valid yet") => "not yet".into(),
        ClientCertificate::Invalid(why) => why.clone(),
        ClientCertificate::None => String::new(),
    }
}

#[test]
fn validity_is_checked_at_each_request() {
    let authority = TestAuthority::new("ca", (1_000, 9_000));
    let now = Arc::new(AtomicU64::new(0));
    let current = Arc::new(CurrentAuthorities::new(authorities(&authority, None), clock(&now)));
    let presented = PresentedCertificate::new(Some(&authority.issue("jane", (3_000, 5_000))), &current).unwrap();
    // Time advances, and is set back once.
    for (time, expect) in
        [(4_000, "jane"), (4_001, "jane"), (5_000, "jane"), (5_001, "expired"), (2_999, "not yet"), (3_000, "jane")]
    {
        now.store(time, Ordering::Relaxed);
        assert_eq!(seen(&presented.client()), expect, "at {time}");
    }
}

#[test]
fn ignores_expired_authorities() {
    let (old, new) = (TestAuthority::new("old", (1_000, 2_000)), TestAuthority::new("new", ALWAYS));
    let mut both = authorities(&old, None);
    let pem = format!("{}{}", old.pem, new.pem);
    both.clients = Verifier::new(Path::new(""), pem.as_bytes(), &both.clients.provider).unwrap();
    let now = Arc::new(AtomicU64::new(1_500));
    let current = Arc::new(CurrentAuthorities::new(both, clock(&now)));
    let presented = |chain: &[CertificateDer<'_>]| PresentedCertificate::new(Some(chain), &current).unwrap();
    let (jane, alice) = (presented(&old.issue("jane", ALWAYS)), presented(&new.issue("alice", ALWAYS)));
    assert_eq!((seen(&jane.client()).as_str(), seen(&alice.client()).as_str()), ("jane", "alice"));
    now.store(2_001, Ordering::Relaxed);
    assert_eq!((seen(&jane.client()).as_str(), seen(&alice.client()).as_str()), ("unknown issuer", "alice"));
}

#[test]
fn replaced_authorities_apply_at_once() {
    let (old, new) = (TestAuthority::new("old", ALWAYS), TestAuthority::new("new", ALWAYS));
    let current = Arc::new(CurrentAuthorities::new(authorities(&old, Some(&new)), system_clock()));
    let jane = PresentedCertificate::new(Some(&old.issue("jane", ALWAYS)), &current).unwrap();
    assert_eq!((seen(&jane.client()).as_str(), seen(&jane.proxy()).as_str()), ("jane", "unknown issuer"));
    current.replace(authorities(&new, Some(&old)));
    assert_eq!((seen(&jane.client()).as_str(), seen(&jane.proxy()).as_str()), ("unknown issuer", "jane"));
    current.replace(authorities(&old, None));
    assert_eq!((seen(&jane.client()).as_str(), seen(&jane.proxy()).as_str()), ("jane", ""));
}

#[test]
fn results_are_cached_for_their_validity() {
    let authority = TestAuthority::new("ca", (1_000, 9_000));
    let current = Arc::new(CurrentAuthorities::new(authorities(&authority, None), Arc::new(|| 4_000)));
    let presented = PresentedCertificate::new(Some(&authority.issue("jane", (3_000, 5_000))), &current).unwrap();
    assert_eq!(seen(&presented.client()), "jane");
    let kept = presented.results[Role::Client as usize].lock().unwrap();
    let kept = kept.as_ref().unwrap();
    assert_eq!((kept.generation, kept.from, kept.until), (0, 3_000, 5_001));
}
