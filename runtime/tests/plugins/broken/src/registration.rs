//! A declaration that leads nowhere, among the classes of this module: a read of it crashes.
#![expect(unsafe_code, reason = "names the section of class descriptions")]

// SAFETY: it is not: the section holds addresses of class descriptions, and this is none.
#[used]
#[unsafe(link_section = "linkme_CLASSES")]
static NOWHERE: usize = 8;
