//! Serves the console and swagger-ui, and turns the console's requests into those of its users.

use std::sync::Arc;

use authn::Authentication;
use console::{Console, VerifyToken};
use request::{BoxFuture, Handler, Request, RequestExt, Response, User};

/// Replaces the session in requests of the console with its token, and their paths with those of
/// the API. It is outside of the filters that read the path.
pub struct WithConsoleSessions<H> {
    inner: H,
    console: Option<Arc<Console>>,
}

impl<H> WithConsoleSessions<H> {
    /// Without a console, all requests pass unchanged.
    pub fn new(inner: H, console: Option<Arc<Console>>) -> Self {
        WithConsoleSessions { inner, console }
    }
}

impl<H: Handler> Handler for WithConsoleSessions<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        if let Some(console) = &self.console
            && Console::is_request_to_server(request.uri().path())
            && let Err(response) = console.enter(&mut request)
        {
            return Box::pin(std::future::ready(*response));
        }
        self.inner.handle(request)
    }
}

/// Serves the files of the console, and sign-in. It is outside of authentication, because the page
/// for sign-in is one of these files; none contains data of the server.
pub struct WithConsolePages<H> {
    inner: H,
    pages: Option<(Arc<Console>, Tokens)>,
}

/// The token authenticators of the server.
struct Tokens(Authentication);

impl VerifyToken for Tokens {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<User>> {
        Box::pin(async move {
            match self.0.review(token, &[]).await {
                Ok(found) => found.map(|found| found.user),
                Err(why) => {
                    tracing::debug!(%why, "a token is not accepted for the console");
                    None
                }
            }
        })
    }
}

impl<H> WithConsolePages<H> {
    /// `authentication` authenticates the tokens of users who sign in.
    pub fn new(inner: H, console: Option<Arc<Console>>, authentication: &Authentication) -> Self {
        WithConsolePages { inner, pages: console.map(|console| (console, Tokens(authentication.clone()))) }
    }
}

impl<H: Handler> Handler for WithConsolePages<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        match &self.pages {
            Some((console, tokens)) if Console::serves(request.path()) => Box::pin(console.answer(request, tokens)),
            _ => self.inner.handle(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use authn::{Anonymous, AudienceAgnostic, TokenFile};
    use request::Body;
    use request::testing::{echo_user, ok, request, seen};
    use telemetry::metrics::Metrics;

    use crate::filters::{WithAuthentication, WithRequestInfo};

    /// The filters of the console around authentication, with a token of alice.
    fn chain(console: Option<Arc<Console>>) -> impl Handler {
        let tokens = TokenFile::parse("alicetoken,alice,uid-alice,dev").unwrap();
        let tokens = AudienceAgnostic { inner: tokens, audiences: vec!["api".into()] };
        let authentication = Authentication::new(Anonymous::Disabled, vec!["api".into()]).with_tokens(Arc::new(tokens));
        let inner = WithAuthentication::new(echo_user(), authentication.clone(), true, Metrics::default().access);
        let inner = WithConsolePages::new(inner, console.clone(), &authentication);
        WithConsoleSessions::new(WithRequestInfo(inner), console)
    }

    #[tokio::test]
    async fn user_of_session_is_that_of_token() {
        let chain = chain(Some(Arc::new(Console::new(1))));
        let mut sign_in = request("POST", "/ui/session");
        sign_in.headers_mut().insert("x-console-key", "new".parse().unwrap());
        *sign_in.body_mut() = Body::full(r#"{"token":"alicetoken"}"#);
        let response = chain.handle(sign_in).await;
        let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let (code, text) = seen(response).await;
        assert_eq!(code, 200, "{text}");
        let key = text.split('"').nth(3).unwrap();
        let mut review = request("GET", "/ui/server/api");
        review.headers_mut().insert("cookie", cookie.parse().unwrap());
        review.headers_mut().insert("x-console-key", key.parse().unwrap());
        let answer = seen(chain.handle(review).await).await;
        assert_eq!(answer, (200, r#"alice ["dev", "system:authenticated"] uid-alice"#.into()));
        let mut elsewhere = request("GET", "/api");
        elsewhere.headers_mut().insert("cookie", cookie.parse().unwrap());
        elsewhere.headers_mut().insert("x-console-key", key.parse().unwrap());
        assert_eq!(chain.handle(elsewhere).await.status(), 401, "the session counts below /ui/server only");
    }

    #[tokio::test]
    async fn without_console_its_paths_are_as_any() {
        let inner = WithConsoleSessions::new(ok(), None);
        for path in ["/ui/", "/ui/server/api", "/ui/session", "/swagger-ui/"] {
            assert_eq!(seen(inner.handle(request("GET", path)).await).await, (200, "ok".into()));
            assert_eq!(chain(None).handle(request("GET", path)).await.status(), 401, "{path}");
        }
        assert_eq!(chain(Some(Arc::new(Console::new(1)))).handle(request("GET", "/ui/")).await.status(), 200);
        assert_eq!(chain(Some(Arc::new(Console::new(1)))).handle(request("GET", "/api")).await.status(), 401);
    }
}
