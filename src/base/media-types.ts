// Media types: the MIME types of contents, and the types of files by their names.
// https://www.rfc-editor.org/rfc/rfc9110#media.type

import mime from 'mime'

/**
 * Source files. The library does not know most of their extensions, and gives some of them the type of
 * another format: `.ts` is a video and `.rs` an XML format there.
 */
const SOURCE_TYPES: { readonly [type: string]: readonly string[] } = {
  'text/javascript': ['cjs'],
  'text/tsx': ['tsx'],
  'text/typescript': ['ts', 'cts', 'mts'],
  'text/x-c': ['hh', 'hpp', 'hxx'],
  'text/x-clojure': ['clj', 'cljc', 'cljs', 'edn'],
  'text/x-cmake': ['cmake'],
  'text/x-csharp': ['cs'],
  'text/x-dart': ['dart'],
  'text/x-diff': ['diff', 'patch'],
  'text/x-elixir': ['ex', 'exs'],
  'text/x-elm': ['elm'],
  'text/x-erlang': ['erl', 'hrl'],
  'text/x-fsharp': ['fs', 'fsi', 'fsx'],
  'text/x-go': ['go'],
  'text/x-gradle': ['gradle'],
  'text/x-graphql': ['gql', 'graphql'],
  'text/x-groovy': ['groovy'],
  'text/x-haskell': ['hs', 'lhs'],
  'text/x-hcl': ['hcl', 'tf', 'tfvars'],
  'text/x-julia': ['jl'],
  'text/x-kotlin': ['kt', 'kts'],
  'text/x-makefile': ['mk'],
  'text/x-nim': ['nim'],
  'text/x-nix': ['nix'],
  'text/x-objective-c': ['m', 'mm'],
  'text/x-ocaml': ['ml', 'mli'],
  'text/x-perl': ['pl', 'pm'],
  'text/x-php': ['php'],
  'text/x-powershell': ['ps1', 'psm1'],
  'text/x-properties': ['properties'],
  'text/x-protobuf': ['proto'],
  'text/x-python': ['py', 'pyi', 'pyw'],
  'text/x-r': ['r'],
  'text/x-rst': ['rst'],
  'text/x-ruby': ['rb', 'gemspec', 'rake'],
  'text/x-rust': ['rs'],
  'text/x-scala': ['sc', 'scala'],
  'text/x-scheme': ['scm'],
  'text/x-solidity': ['sol'],
  'text/x-svelte': ['svelte'],
  'text/x-swift': ['swift'],
  'text/x-tcl': ['tcl'],
  'text/x-tex': ['cls', 'sty', 'tex'],
  'text/x-vb': ['vb'],
  'text/x-vue': ['vue'],
  'text/x-zig': ['zig'],
  'text/plain': ['adoc', 'asciidoc', 'cfg', 'editorconfig', 'lock'],
  'application/x-sh': ['bash', 'fish', 'sh', 'zsh'],
  'application/x-bat': ['bat', 'cmd'],
  'application/jsonl': ['jsonl', 'ndjson'],
  'application/json5': ['jsonc'],
  'application/vnd.apache.parquet': ['parquet'],
  'application/vnd.sqlite3': ['db', 'sqlite', 'sqlite3']
}

/** Files that are known by their whole name, in lower case. */
const NAMED_TYPES: ReadonlyMap<string, string> = new Map([
  ['dockerfile', 'text/x-dockerfile'], ['makefile', 'text/x-makefile'], ['cmakelists.txt', 'text/x-cmake'],
  ['gemfile', 'text/x-ruby'], ['rakefile', 'text/x-ruby']
])

const typeByExtension: ReadonlyMap<string, string> = new Map(
  Object.entries(SOURCE_TYPES).flatMap(([type, extensions]) => extensions.map((ending) => [ending, type]))
)

/** Returns the type of a file. `undefined` when the name has none. */
export function mediaTypeOfName (path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const ending = name.slice(name.lastIndexOf('.') + 1)
  // The library takes a name without a dot for an extension, unless it has a folder.
  return NAMED_TYPES.get(name) ??
    (ending === name ? undefined : typeByExtension.get(ending)) ??
    mime.getType(`./${name}`) ?? undefined
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

/** The pattern of a type, a subtype and parameters, such as `text/html; charset=utf-8`. */
export const MEDIA_TYPE = `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[^"\\\\]*"))*$`

const pattern = new RegExp(MEDIA_TYPE)

export function isMediaType (text: string): boolean {
  return pattern.test(text)
}

/** The types of contents whose author names none. */
export const TEXT_TYPE = 'text/plain'
export const BYTES_TYPE = 'application/octet-stream'

/** https://modelcontextprotocol.io/specification/2026-07-28/server/resources#common-uri-schemes */
export const DIRECTORY_TYPE = 'inode/directory'
