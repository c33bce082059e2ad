//! The services of a target, and the types of their messages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use prost_reflect::{DescriptorPool, FileDescriptor, ServiceDescriptor};

use crate::error::SchemaError;
use crate::method::Method;
use crate::mistakes::nearest;
use crate::sources::{compile, compile_text};

/// Maximum names in an error.
const MOST_LISTED: usize = 12;
/// The file with a type whose values may be messages of any other file.
const ANY: &str = "google/protobuf/any.proto";

/// Services and message types.
#[derive(Debug, Clone)]
pub struct Schema {
    pool: DescriptorPool,
    bytes: Vec<u8>,
}

impl Schema {
    /// Reads .proto files and descriptor sets (files with another ending), with all that they import. `roots`: folders
    /// in which imports begin; without any, they begin in the folder of each file or in one above it.
    ///
    /// The error names the file, and the line of a .proto file.
    pub fn read(files: &[PathBuf], roots: &[PathBuf]) -> Result<Schema, SchemaError> {
        let (sources, sets): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| is_source(file));
        let mut schema = Schema { pool: DescriptorPool::new(), bytes: Vec::new() };
        let wrong = |file: &Path, reason: &dyn std::fmt::Display| SchemaError(format!("{}: {reason}", file.display()));
        for file in sets {
            let bytes = std::fs::read(&file).map_err(|error| wrong(&file, &error))?;
            schema.add(&bytes).map_err(|error| {
                wrong(&file, &format!("not a descriptor set, which protoc --descriptor_set_out writes ({error})"))
            })?;
        }
        if !sources.is_empty() {
            for file in &sources {
                if !roots.iter().any(|root| root.join(file).exists()) {
                    std::fs::metadata(file).map_err(|error| wrong(file, &error))?;
                }
            }
            schema.add(&compile(&sources, roots)?)?;
        }
        Ok(schema)
    }

    /// From the text of a .proto file, which imports nothing but Google's own files.
    pub fn from_text(text: &str) -> Result<Schema, SchemaError> {
        Schema::from_bytes(&compile_text(text)?)
    }

    /// From a serialized `google.protobuf.FileDescriptorSet`.
    pub fn from_bytes(descriptor_set: &[u8]) -> Result<Schema, SchemaError> {
        let mut schema = Schema { pool: DescriptorPool::new(), bytes: Vec::new() };
        schema.add(descriptor_set)?;
        Ok(schema)
    }

    /// Descriptor sets are messages with one repeated field, so their bytes may follow each other.
    fn add(&mut self, descriptor_set: &[u8]) -> Result<(), SchemaError> {
        let wrong = |error: &dyn std::fmt::Display| SchemaError(error.to_string());
        check_syntax(&FileDescriptorSet::decode(descriptor_set).map_err(|error| wrong(&error))?)?;
        self.pool.decode_file_descriptor_set(descriptor_set).map_err(|error| wrong(&error))?;
        self.bytes.extend_from_slice(descriptor_set);
        Ok(())
    }

    /// A serialized `google.protobuf.FileDescriptorSet`.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The method with this name: `package.Service/Method`, as in the path of a call. A slash may be before it. The
    /// error names those that there are.
    pub fn method(&self, name: &str) -> Result<Method, SchemaError> {
        let name = name.strip_prefix('/').unwrap_or(name);
        let Some((service_name, method_name)) = name.split_once('/').filter(|(_, method)| !method.is_empty()) else {
            return Err(SchemaError(format!(
                "{name:?} is not a method; valid is \"package.Service/Method\"{}",
                list("there are", self.methods())
            )));
        };
        let Some(service) = self.pool.get_service_by_name(service_name) else {
            let known = self.pool.services().map(|service| service.full_name().to_owned());
            return Err(missing(&format!("there is no service {service_name:?}"), service_name, known.collect()));
        };
        let Some(descriptor) = service.methods().find(|method| method.name() == method_name) else {
            let known = service.methods().map(|method| method.name().to_owned()).collect();
            return Err(missing(&format!("{service_name} has no method {method_name:?}"), method_name, known));
        };
        Ok(Method::new(&descriptor))
    }

    /// Only the files that these services need. All files if that is not known: a service is not there, or a message may
    /// contain one of any type.
    #[must_use]
    pub fn pruned<N: AsRef<str>>(&self, services: impl IntoIterator<Item = N>) -> Schema {
        let mut needed = BTreeMap::new();
        for name in services {
            let Some(service) = self.pool.get_service_by_name(name.as_ref()) else { return self.clone() };
            add_with_imports(service.parent_file(), &mut needed);
        }
        for extension in self.pool.all_extensions() {
            if needed.contains_key(extension.containing_message().parent_file().name()) {
                add_with_imports(extension.parent_file(), &mut needed);
            }
        }
        if needed.contains_key(ANY) {
            return self.clone();
        }
        let file = needed.values().map(|file| file.file_descriptor_proto().clone()).collect();
        let bytes = FileDescriptorSet { file }.encode_to_vec();
        Schema::from_bytes(&bytes).expect("a part of a schema, with all that it imports, is one")
    }

    /// The names of all methods, as `package.Service/Method`.
    pub fn methods(&self) -> Vec<String> {
        let names = |service: ServiceDescriptor| {
            let of = service.full_name().to_owned();
            service.methods().map(move |method| format!("{of}/{}", method.name())).collect::<Vec<_>>()
        };
        self.pool.services().flat_map(names).collect()
    }
}

/// The pool panics at others.
fn check_syntax(set: &FileDescriptorSet) -> Result<(), SchemaError> {
    let unknown = set.file.iter().find(|file| !matches!(file.syntax.as_deref(), None | Some("proto2" | "proto3")));
    unknown.map_or(Ok(()), |file| {
        Err(SchemaError(format!("{} has the syntax {:?}; known are proto2 and proto3", file.name(), file.syntax())))
    })
}

/// Adds a file and all that it imports, by their names.
fn add_with_imports(file: FileDescriptor, found: &mut BTreeMap<String, FileDescriptor>) {
    let mut left = vec![file];
    while let Some(file) = left.pop() {
        if !found.contains_key(file.name()) {
            left.extend(file.dependencies());
            found.insert(file.name().to_owned(), file);
        }
    }
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("proto"))
}

fn missing(what: &str, name: &str, known: Vec<String>) -> SchemaError {
    let near = nearest(name, known.iter().map(String::as_str)).map(|near| format!("; did you mean {near:?}?"));
    SchemaError(format!("{what}{}", near.unwrap_or_else(|| list("there are", known))))
}

/// `; there are a, b and 3 more`.
fn list(begin: &str, mut names: Vec<String>) -> String {
    if names.is_empty() {
        return "; the schema has none".into();
    }
    let more = names.len().saturating_sub(MOST_LISTED);
    names.truncate(MOST_LISTED);
    let mut text = format!("; {begin} {}", names.join(", "));
    if more > 0 {
        write!(text, " and {more} more").expect("writing to a String does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use prost_reflect::prost::Message;
    use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

    use super::Schema;

    const GREETER: &str = r#"syntax = "proto3"; package hello;
        message Text { string text = 1; }
        service Greeter { rpc SayHello(Text) returns (Text); rpc SayBye(Text) returns (stream Text); }
        service Other { rpc Call(stream Text) returns (Text); }"#;

    /// A new folder with these files.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("plimsoll-grpc-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn refused(files: &[PathBuf], roots: &[PathBuf]) -> String {
        Schema::read(files, roots).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn methods_are_found_by_the_names_of_their_paths() {
        let schema = Schema::from_text(GREETER).unwrap();
        assert_eq!(schema.methods(), ["hello.Greeter/SayHello", "hello.Greeter/SayBye", "hello.Other/Call"]);
        for (name, streams) in [
            ("hello.Greeter/SayHello", (false, false)),
            ("/hello.Greeter/SayBye", (false, true)),
            ("hello.Other/Call", (true, false)),
        ] {
            let method = schema.method(name).unwrap();
            assert_eq!((method.client_streams, method.server_streams), streams, "{name}");
            assert_eq!(method.path().trim_start_matches('/'), method.name());
        }
        let again = Schema::from_bytes(schema.as_bytes()).unwrap();
        assert_eq!(again.methods(), schema.methods());
    }

    #[test]
    fn a_name_that_does_not_exist_is_reported_with_the_names_that_do() {
        let schema = Schema::from_text(GREETER).unwrap();
        let all = "there are hello.Greeter/SayHello, hello.Greeter/SayBye, hello.Other/Call";
        for (name, expected) in [
            ("SayHello", &*format!("\"SayHello\" is not a method; valid is \"package.Service/Method\"; {all}")),
            (
                "hello.Greeter/",
                &format!("\"hello.Greeter/\" is not a method; valid is \"package.Service/Method\"; {all}"),
            ),
            ("helo.greeter/SayHello", "there is no service \"helo.greeter\"; did you mean \"hello.Greeter\"?"),
            ("x/SayHello", "there is no service \"x\"; there are hello.Greeter, hello.Other"),
            ("hello.Greeter/sayHallo", "hello.Greeter has no method \"sayHallo\"; did you mean \"SayHello\"?"),
            ("hello.Greeter/X", "hello.Greeter has no method \"X\"; there are SayHello, SayBye"),
        ] {
            assert_eq!(schema.method(name).map(|_| ()).unwrap_err().to_string(), expected);
        }
        let nothing = Schema::from_text("syntax = \"proto3\"; message A {}").unwrap();
        let error = nothing.method("a.B/C").map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "there is no service \"a.B\"; the schema has none");
    }

    #[test]
    fn a_syntax_that_is_not_known_is_refused() {
        for (syntax, is_known) in [(None, true), (Some("proto2"), true), (Some("editions"), false), (Some(""), false)] {
            let file = FileDescriptorProto {
                name: Some("a.proto".into()),
                syntax: syntax.map(Into::into),
                ..FileDescriptorProto::default()
            };
            let read = Schema::from_bytes(&FileDescriptorSet { file: vec![file] }.encode_to_vec());
            let error = read.map(|_| ()).map_err(|error| error.to_string());
            let expected =
                || format!("a.proto has the syntax {:?}; known are proto2 and proto3", syntax.unwrap_or_default());
            assert_eq!(error, if is_known { Ok(()) } else { Err(expected()) });
        }
    }

    #[test]
    fn imports_begin_in_a_folder_above_the_file_or_where_one_is_told() {
        let service = r#"syntax = "proto3"; package api.v1; import "api/v1/text.proto"; import "google/protobuf/empty.proto";
            service S { rpc Get(google.protobuf.Empty) returns (Text); }"#;
        let text = r#"syntax = "proto3"; package api.v1; message Text { string text = 1; }"#;
        let folder = folder("imports", &[("api/v1/service.proto", service), ("api/v1/text.proto", text)]);
        let file = folder.join("api/v1/service.proto");
        let found = Schema::read(&[file.clone(), folder.join("api/v1/text.proto")], &[]).unwrap();
        assert_eq!(found.methods(), ["api.v1.S/Get"]);
        let with_roots = Schema::read(std::slice::from_ref(&file), std::slice::from_ref(&folder)).unwrap();
        assert_eq!(with_roots.methods(), ["api.v1.S/Get"]);

        let set = folder.join("api.binpb");
        fs::write(&set, with_roots.as_bytes()).unwrap();
        assert_eq!(Schema::read(&[set], &[]).unwrap().methods(), ["api.v1.S/Get"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_pruned_schema_has_the_files_that_its_services_need() {
        let text = r#"syntax = "proto2"; package text; message Text { extensions 100 to 200; }"#;
        let more =
            r#"syntax = "proto2"; package more; import "text.proto"; extend text.Text { optional int32 n = 100; }"#;
        let any = r#"syntax = "proto3"; package any; import "google/protobuf/any.proto"; import "text.proto";
            service S { rpc Get(google.protobuf.Any) returns (text.Text); }"#;
        let service = |name: &str| {
            format!(
                r#"syntax = "proto3"; package {name}; import "text.proto";
                service S {{ rpc Get(text.Text) returns (text.Text); }}"#
            )
        };
        let files = [("text.proto", text), ("more.proto", more), ("any.proto", any)];
        let folder =
            folder("pruned", &[&files[..], &[("a.proto", &service("a")), ("b.proto", &service("b"))]].concat());
        let all = ["a", "b", "any", "more"].map(|name| folder.join(format!("{name}.proto")));
        let schema = Schema::read(&all, std::slice::from_ref(&folder)).unwrap();
        fs::remove_dir_all(folder).unwrap();

        let files = |schema: &Schema| schema.pool.files().map(|file| file.name().to_owned()).collect::<Vec<_>>();
        let pruned = schema.pruned(["a.S"]);
        assert_eq!(files(&pruned), ["a.proto", "more.proto", "text.proto"]);
        let message = r#"{"[more.n]": 5}"#;
        let mut encoded = Vec::new();
        pruned.method("a.S/Get").unwrap().encode(message, &mut encoded).unwrap();
        assert_eq!(encoded, b"\xa0\x06\x05");
        assert_eq!(Schema::from_bytes(pruned.as_bytes()).unwrap().methods(), ["a.S/Get"]);
        for services in [&["any.S"][..], &["a.S", "missing.S"]] {
            assert_eq!(schema.pruned(services).methods(), schema.methods());
        }
    }

    #[test]
    fn a_schema_with_a_mistake_is_refused_with_file_and_line() {
        let folder = folder(
            "mistakes",
            &[
                ("syntax.proto", "syntax = \"proto3\";\nmessage A {\n  string a 1;\n}\n"),
                ("type.proto", "syntax = \"proto3\";\nmessage A {\n  Missing a = 1;\n}\n"),
                ("import.proto", "syntax = \"proto3\";\nimport \"google/api/annotations.proto\";\n"),
                ("text.binpb", "syntax"),
            ],
        );
        for (file, parts) in [
            ("syntax.proto", &["syntax.proto:3:12: expected '='"][..]),
            ("type.proto", &["type.proto:3:3: ", "'Missing'"]),
            ("import.proto", &["import.proto:2:1: import 'google/api/annotations.proto' not found; name the folder"]),
            ("none.proto", &["none.proto: No such file"]),
            ("text.binpb", &["text.binpb: not a descriptor set"]),
            ("none.binpb", &["none.binpb: No such file"]),
        ] {
            let error = refused(&[folder.join(file)], &[]);
            assert!(parts.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{error}");
        }
        let error = refused(&[folder.join("syntax.proto")], &[Path::new("/nowhere").to_owned()]);
        assert!(error.contains("syntax.proto"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
