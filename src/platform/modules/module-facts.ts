// The requests, imports and exports of a module, in the terms of the specification's source text module
// records (ECMA-262, 16.2.1.7).

import type { ImportAttribute, ImportDeclaration, Identifier, Literal, Pattern, Program } from 'acorn'

/** Import attributes: `with { type: 'json' }`. */
export type Attributes = { readonly [key: string]: string }

export interface ModuleRequest {
  readonly specifier: string
  readonly attributes: Attributes
  /** The start of the statement in the text. */
  readonly position: number
}

/** An export of another module. `name` is ALL for the namespace of that module. */
export interface RequestedName { readonly request: ModuleRequest, readonly name: string | typeof ALL }

export interface ModuleFacts {
  /** In the order of the statements. */
  readonly requests: readonly ModuleRequest[]
  /** The imports by local name. */
  readonly imports: ReadonlyMap<string, RequestedName>
  /** Local names by export name. */
  readonly localExports: ReadonlyMap<string, string>
  readonly indirectExports: ReadonlyMap<string, RequestedName>
  readonly starExports: readonly ModuleRequest[]
}

export const ALL = Symbol('all')

/** The local name of a default export that has no name. */
export const DEFAULT = '*default*'

const NO_EXPORTS: ReadonlyMap<string, RequestedName> = new Map()
const NO_REQUESTS: readonly ModuleRequest[] = []

interface Elision {
  /** Whether the import of this local name is dropped. */
  name (local: string): boolean
  /** Whether an import statement is dropped after all its names were dropped. */
  statement (node: ImportDeclaration): boolean
}

/** @param isElided decides which imports TypeScript drops because they may be types. */
export function readFacts (program: Program, isElided: Elision): ModuleFacts {
  const requests: ModuleRequest[] = []
  const imports = new Map<string, RequestedName>()
  const exported: Array<{ readonly local: string, readonly as: string }> = []
  const indirectExports = new Map<string, RequestedName>()
  const starExports: ModuleRequest[] = []

  function request (source: Literal, attributes: ImportAttribute[], position: number): ModuleRequest {
    const moduleRequest = {
      specifier: detach(String(source.value)),
      attributes: Object.fromEntries(
        attributes.map(({ key, value }) => [nameOf(key), detach(String(value.value))])
      ),
      position
    }
    requests.push(moduleRequest)
    return moduleRequest
  }

  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      const specifiers = node.specifiers.filter(({ local }) => !isElided.name(local.name))
      if (specifiers.length === 0 && isElided.statement(node)) continue
      const from = request(node.source, node.attributes, node.start)
      for (const specifier of specifiers) {
        imports.set(nameOf(specifier.local), { request: from, name: importedName(specifier) })
      }
    } else if (node.type === 'ExportAllDeclaration') {
      const from = request(node.source, node.attributes, node.start)
      if (node.exported == null) starExports.push(from)
      else indirectExports.set(nameOf(node.exported), { request: from, name: ALL })
    } else if (node.type === 'ExportNamedDeclaration' && node.source != null) {
      const from = request(node.source, node.attributes, node.start)
      for (const { local, exported } of node.specifiers) {
        indirectExports.set(nameOf(exported), { request: from, name: nameOf(local) })
      }
    } else if (node.type === 'ExportNamedDeclaration') {
      for (const { local, exported: as } of node.specifiers) {
        exported.push({ local: nameOf(local), as: nameOf(as) })
      }
      if (node.declaration == null) continue
      const names = node.declaration.type === 'VariableDeclaration'
        ? node.declaration.declarations.flatMap(({ id }) => boundNames(id))
        : [nameOf(node.declaration.id)]
      exported.push(...names.map((name) => ({ local: name, as: name })))
    } else if (node.type === 'ExportDefaultDeclaration') {
      const { declaration } = node
      // The name of a function or class expression is no binding of the module.
      const isNamed = declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration'
      const local = isNamed && declaration.id != null ? nameOf(declaration.id) : DEFAULT
      exported.push({ local, as: 'default' })
    }
  }

  const localExports = new Map<string, string>()
  for (const { local, as } of exported) {
    const entry = imports.get(local)
    // A re-exported namespace import is a binding of this module.
    if (entry === undefined || entry.name === ALL) localExports.set(as, local)
    else indirectExports.set(as, entry)
  }
  return {
    requests,
    imports,
    localExports,
    // Most modules have neither. An empty Map takes 200 bytes.
    indirectExports: indirectExports.size === 0 ? NO_EXPORTS : indirectExports,
    starExports: starExports.length === 0 ? NO_REQUESTS : starExports
  }
}

function importedName (specifier: ImportDeclaration['specifiers'][number]): RequestedName['name'] {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  return specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : ALL
}

function nameOf (node: Identifier | Literal): string {
  return detach(node.type === 'Identifier' ? node.name : String(node.value))
}

/** Copies a part of a text. V8 would keep the whole text for the part: 1.1 KiB for each tool of a catalog. */
export function detach (part: string): string {
  return part.split('').join('')
}

function boundNames (pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier': return [nameOf(pattern)]
    case 'ObjectPattern': return pattern.properties.flatMap(
      (property) => boundNames(property.type === 'Property' ? property.value : property.argument)
    )
    case 'ArrayPattern': return pattern.elements.flatMap(
      (element) => element === null ? [] : boundNames(element)
    )
    case 'RestElement': return boundNames(pattern.argument)
    case 'AssignmentPattern': return boundNames(pattern.left)
    case 'MemberExpression': return []
  }
}
