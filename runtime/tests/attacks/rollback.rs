//! A reload that fails leaves nothing behind that its report does not name.
