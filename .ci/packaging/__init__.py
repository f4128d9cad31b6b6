"""Packages of a built program. Each output depends only on the program, the repository and SOURCE_DATE_EPOCH."""
