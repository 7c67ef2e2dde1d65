"""Commands that are more than a skin over the audit: each adds its options and runs."""
