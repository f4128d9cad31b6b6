//! Authenticates the sessions that began with the link of the console.

use std::sync::Arc;

use authn::{Authenticated, TokenAuthenticator, Verdict};
use console::Console;
use request::BoxFuture;

/// The tokens that [`Console`] exchanges for codes. They are valid for all audiences, because only
/// this server ever has them.
pub struct LinkTokens(pub Arc<Console>);

impl TokenAuthenticator for LinkTokens {
    fn name(&self) -> &'static str {
        "console"
    }

    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict> {
        let user = self.0.user_of(token);
        let found = user.map(|user| Authenticated { user, audiences: audiences.to_vec(), ..Authenticated::default() });
        Box::pin(std::future::ready(Ok(found)))
    }
}
