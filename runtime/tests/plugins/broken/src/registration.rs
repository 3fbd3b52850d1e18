//! Invalid pointer among the class descriptions of this module. A read of this description crashes.
#![expect(unsafe_code, reason = "names the section of class descriptions")]

// SAFETY: none: the section holds addresses of class descriptions, and this value is an invalid address.
#[used]
#[unsafe(link_section = "linkme_CLASSES")]
static NOWHERE: usize = 8;
