use crate::support::programs;
#[test]
fn dump() {
    for path in programs("files") {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let source = alcedo_uc::Source::decode(name, &bytes);
        let (file, messages) = alcedo_uc::parse(&source);
        let mut out = String::new();
        for m in &messages { out += &format!("{}:{} {:?} {} {}\n", m.line, m.column, m.severity, m.id, m.message); }
        std::fs::create_dir_all("/tmp/ucd").unwrap();
        std::fs::write(format!("/tmp/ucd/{name}.parse"), out).unwrap();
        std::fs::write(format!("/tmp/ucd/{name}.print"), alcedo_uc::print(&file)).unwrap();
        let sources = [source];
        let messages = match crate::support::checked(&sources) { Ok(c) => c.warnings, Err(m) => m };
        let mut out = String::new();
        for m in &messages { out += &format!("{}:{} {:?} {} {}\n", m.line, m.column, m.severity, m.id, m.message); }
        std::fs::write(format!("/tmp/ucd/{name}.check"), out).unwrap();
    }
}
