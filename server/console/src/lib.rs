//! The console in the browser at `/ui/`, and swagger-ui at `/swagger-ui/`.
//!
//! The files are embedded and contain no data of the server, so that they need no authentication.
//! The requests of the console go to `/ui/server/PATH`. There, [`Console::enter`] replaces the
//! session with its bearer token and the path with `PATH`; the request then passes the usual
//! authentication and authorization. The token never leaves the server
//! (`docs/decisions/0009-console.md`).

mod console;
mod failures;
mod files;
mod link;
mod origin;
mod secrets;
mod sessions;
mod sign_in;

pub use console::Console;
pub use sign_in::VerifyToken;
