//! The first build writes this file.
