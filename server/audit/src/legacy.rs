//! The text format of events for `--audit-log-format=legacy` (upstream: `audit.EventString`).

use apimachinery::audit::v1::Event;
use machinery::scalar::go_text::quote;

/// Formats an event as one line, without the line break.
pub(super) fn line(event: &Event) -> String {
    let user = &event.user;
    let (name, groups) = match user.username.as_str() {
        "" => ("<none>", "<none>".to_owned()),
        name if user.groups.is_empty() => (name, "<none>".to_owned()),
        name => (name, list(&user.groups)),
    };
    let (as_name, as_groups) = match &event.impersonated_user {
        None => ("<self>", "<lookup>".to_owned()),
        Some(user) if user.groups.is_empty() => (user.username.as_str(), "<lookup>".to_owned()),
        Some(user) => (user.username.as_str(), list(&user.groups)),
    };
    let namespace = event.object_ref.as_ref().map_or("", |object| object.namespace.as_str());
    let response = event.response_status.as_ref().map_or("<deferred>".to_owned(), |status| status.code.to_string());
    format!(
        "{} AUDIT: id={} stage={} ip={} method={} user={} groups={} as={} asgroups={} user-agent={} namespace={} uri={} response=\"{response}\"",
        time(event),
        quote(&event.audit_id),
        quote(&event.stage),
        quote(event.source_ips.first().map_or("<unknown>", String::as_str)),
        quote(&event.verb),
        quote(name),
        quote(&groups),
        quote(as_name),
        quote(&as_groups),
        quote(&event.user_agent),
        quote(if namespace.is_empty() { "<none>" } else { namespace }),
        quote(&event.request_uri),
    )
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(",")
}

/// Formats the time as Go's RFC3339Nano, which omits trailing zeros of the fraction.
fn time(event: &Event) -> String {
    let text = event.request_received_timestamp.to_string();
    let text = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    format!("{text}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use apimachinery::audit::v1::ObjectReference;
    use apimachinery::authentication::v1::UserInfo;
    use machinery::scalar::MicroTime;

    #[test]
    fn formats_events_as_lines() {
        let received = MicroTime::from_unix_micros(1_700_000_000_120_000);
        let mut event = Event { stage: "RequestReceived".into(), verb: "list".into(), ..Event::default() };
        event.request_received_timestamp = received;
        assert_eq!(
            line(&event),
            r#"2023-11-14T22:13:20.12Z AUDIT: id="" stage="RequestReceived" ip="<unknown>" method="list" user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="" response="<deferred>""#
        );
        event.user = UserInfo { username: "a".into(), groups: vec!["x".into(), "y".into()], ..UserInfo::default() };
        event.impersonated_user = Some(Box::new(UserInfo { username: "b".into(), ..UserInfo::default() }));
        event.object_ref = Some(Box::new(ObjectReference { namespace: "n".into(), ..ObjectReference::default() }));
        assert!(
            line(&event)
                .contains(r#"user="a" groups="\"x\",\"y\"" as="b" asgroups="<lookup>" user-agent="" namespace="n""#)
        );
    }
}
