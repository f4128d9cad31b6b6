//! Sends generated conversations to two API servers, compares the responses, and minimises
//! conversations that differ.

pub mod catalog;
pub mod client;
pub mod compare;
pub mod conversation;
pub mod generate;
pub mod minimise;
pub mod normalise;
pub mod play;
pub mod random;
pub mod replay;
pub mod rules;
pub mod run;

pub use dial::{error, kubeconfig};
