//! From .proto files to descriptors.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use crate::error::SchemaError;

/// How many folders above a file its imports may begin at.
const MOST_ABOVE: usize = 8;

/// The descriptor set of these files and of all that they import. `roots`: folders in which imports begin; without
/// any, they begin in the folder of each file, or in the nearest one above it where all of them are found.
pub(crate) fn compile(files: &[PathBuf], roots: &[PathBuf]) -> Result<Vec<u8>, SchemaError> {
    if !roots.is_empty() {
        return compile_from(files, roots).map_err(|error| described(&error));
    }
    let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let files: Vec<_> = files.iter().map(absolute).collect();
    let above = |n: usize| -> BTreeSet<PathBuf> {
        files.iter().filter_map(|file| file.ancestors().nth(n)).map(Path::to_owned).collect()
    };
    let first = match compile_from(&files, above(1)) {
        Err(error) if error.is_file_not_found() => error,
        result => return result.map_err(|error| described(&error)),
    };
    let others = (2..MOST_ABOVE).find_map(|n| compile_from(&files, above(n)).ok());
    others.ok_or_else(|| described(&first))
}

fn compile_from(
    files: &[PathBuf],
    roots: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<Vec<u8>, protox::Error> {
    let mut compiler = Compiler::new(roots)?;
    compiler.include_imports(true).open_files(files)?;
    Ok(compiler.encode_file_descriptor_set())
}

/// The descriptor set of the text of a .proto file, which imports nothing but Google's own files.
pub(crate) fn compile_text(text: &str) -> Result<Vec<u8>, SchemaError> {
    const NAME: &str = "schema.proto";

    struct Text(String);

    impl FileResolver for Text {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            if name == NAME { File::from_source(name, &self.0) } else { Err(protox::Error::file_not_found(name)) }
        }
    }

    let mut resolver = ChainFileResolver::new();
    resolver.add(Text(text.to_owned()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file(NAME).map_err(|error| described(&error))?;
    Ok(compiler.encode_file_descriptor_set())
}

/// The error with its place: `chat.proto:3:8: import 'x.proto' not found`.
fn described(error: &protox::Error) -> SchemaError {
    let place = format!("{error:?}");
    let place = place.lines().next().unwrap_or_default();
    let hint = if place.contains("import '") { "; name the folder in which imports begin" } else { "" };
    SchemaError(format!("{place}{hint}"))
}
