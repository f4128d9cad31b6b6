//! The first build replaces this file.
