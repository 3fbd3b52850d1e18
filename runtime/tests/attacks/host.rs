//! Host code that is safe, and a logger that writes: no store is borrowed, no raw memory is within reach.
