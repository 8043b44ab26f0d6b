//! Goodput of Ethernet links and of token buckets that stand for them.
