// Digests of the contents of files, of a whole catalog folder, and of the code of each tool. A file is read
// again only when it may have changed.

import { createHash, hash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Generations } from '../../../base/generations.ts'
import type { LocatedTool } from '../../compiled/contents.ts'
import type { ModuleGraph } from '../../../platform/modules/module-graph.ts'
import type { FileModule } from '../../../platform/modules/reusable-modules.ts'
import { SourceModule } from '../../../platform/modules/source-module.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import { toStamp, type FolderFile } from './folder-files.ts'

/** Reading a small file at once takes a tenth of the CPU time of a stream. */
const MAX_SYNC_BYTES = 65_536

export class FileDigests {
  readonly #digests = new Generations<string>()
  readonly #maxBytes: number

  /** @param maxBytes the size of the largest file that clients can read. Larger files have no digest. */
  constructor (maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Empty for a file that cannot be read, or is larger than `maxBytes`. */
  async of ({ absolutePath, size, stamp }: Omit<FolderFile, 'path'>): Promise<string> {
    await yieldToRequests()
    const earlier = this.#digests.get(absolutePath, stamp)
    if (earlier !== undefined) return earlier
    const digest = size > this.#maxBytes ? '' : await digestFile(absolutePath, size).catch(() => '')
    return this.#digests.set(absolutePath, digest, stamp)
  }

  /** Ends a load. */
  forgetUnused (): void {
    this.#digests.forgetUnused()
  }
}

async function digestFile (path: string, size: number): Promise<string> {
  if (size <= MAX_SYNC_BYTES) return hash('sha256', readFileSync(path))
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk)
  return digest.digest('hex')
}

interface DigestedFiles {
  readonly modules: readonly FileModule[]
  /** The absolute paths of the files that modules import. */
  readonly imported: ReadonlySet<string>
  readonly files: readonly FolderFile[]
  readonly fileDigests: FileDigests
}

/** Other imported files are add-ons, which a reload does not load again. */
const TEXT = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

/**
 * Digests every module that was read, and every file that is no module. Files that a module reads by itself,
 * and packages, do not count.
 */
export async function digestFiles (
  root: string, { modules, imported, files, fileDigests }: DigestedFiles
): Promise<{ readonly digest: string, readonly fileDigests: ReadonlyMap<string, string> }> {
  const digests = new Map<string, string>()
  for (const module of modules) {
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    if (module instanceof SourceModule) digests.set(module.file, module.compiled.digest)
    else digests.set(module.file, await digestOf(module.file, fileDigests))
  }
  for (const file of imported) {
    if (!digests.has(file) && TEXT.test(file)) digests.set(file, await digestOf(file, fileDigests))
  }
  for (const file of files) digests.set(file.absolutePath, await fileDigests.of(file))
  const named = new Map<string, string>()
  const lines: string[] = []
  for (const [file, digest] of digests) {
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    const name = nameIn(root, file)
    named.set(name, digest)
    lines.push(`${name} ${digest}`)
  }
  await yieldToRequests()
  // Sorted: modules are read in an order that depends on time.
  const digest = hash('sha256', lines.sort().join('\n'))
  return { digest, fileDigests: named }
}

async function digestOf (absolutePath: string, fileDigests: FileDigests): Promise<string> {
  const facts = statSync(absolutePath, { throwIfNoEntry: false })
  if (facts === undefined) return ''
  return await fileDigests.of({ absolutePath, size: facts.size, stamp: toStamp(facts) })
}

/** The path in the folder, or the name of a file elsewhere: the target of a link has a path of its own. */
function nameIn (root: string, file: string): string {
  const path = file.startsWith(root + sep) ? file.slice(root.length + 1) : basename(file)
  return path.startsWith('..') ? basename(file) : path
}

/** A file of the catalog or a package. */
interface CodeNode {
  /** The name, and the digest or the version. */
  line: string
  readonly imports: CodeNode[]
  /** The module of the file, if it is loaded. */
  readonly module?: SourceModule
  /** The hash of the node and all that it reaches. */
  hash: string | undefined
}

/** A module that a reload takes over is as it was, with all that it imports. */
const hashes = new WeakMap<SourceModule, string>()

interface FingerprintDependencies {
  readonly root: string
  readonly graph: ModuleGraph
  readonly fileDigests: FileDigests
}

/**
 * Adds to each tool with tasks a hash of its module and of all that the module imports: the texts of files of
 * the catalog, the versions of packages. The same for the same files, on every replica.
 */
export async function addFingerprints (
  tools: readonly LocatedTool[], dependencies: FingerprintDependencies
): Promise<LocatedTool[]> {
  let code: Code | undefined
  const all: LocatedTool[] = []
  for (const tool of tools) {
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    const { task = 'never' } = tool.definition
    if (task === 'never') {
      all.push(tool)
      continue
    }
    code ??= new Code(dependencies)
    const node = code.add(tool.file)
    if (code.isUnread) await code.read()
    all.push({ ...tool, fingerprint: node && hashOf(node) })
  }
  return all
}

/** The code of one load, as a graph. Each file is looked at once. */
class Code {
  readonly #root: string
  readonly #graph: ModuleGraph
  readonly #fileDigests: FileDigests
  /** The modules of the graph by URL. */
  readonly #modules = new Map<string, SourceModule>()
  readonly #urls = new Map<string, string>()
  /** The nodes by URL, and by folder for a package. */
  readonly #nodes = new Map<string, CodeNode>()
  /** The files of the catalog that are no modules of the graph, and are not read yet. */
  readonly #unread: Array<{ readonly url: string, readonly node: CodeNode }> = []

  constructor ({ root, graph, fileDigests }: FingerprintDependencies) {
    this.#root = root
    this.#graph = graph
    this.#fileDigests = fileDigests
    for (const module of graph.files) {
      this.#urls.set(module.file, module.url)
      if (module instanceof SourceModule) this.#modules.set(module.url, module)
    }
  }

  /** Whether what the nodes import is not complete: `read` completes it. */
  get isUnread (): boolean { return this.#unread.length > 0 }

  /** @param file relative to the catalog folder. */
  add (file: string): CodeNode | undefined {
    const url = this.#urls.get(join(this.#root, file))
    return url === undefined ? undefined : this.#nodeAt(url)
  }

  async read (): Promise<void> {
    for (let next = this.#unread.pop(); next !== undefined; next = this.#unread.pop()) {
      const { url, node } = next
      const file = fileURLToPath(url)
      const { digest, imports } = await this.#graph.importsOf(url)
      node.line = `${this.#nameOf(file)} ${digest ?? await digestOf(file, this.#fileDigests)}`
      this.#addImports(node, imports)
    }
  }

  /** Returns `undefined` for a module of Node or of the service. */
  #nodeAt (url: string): CodeNode | undefined {
    if (!url.startsWith('file:')) return undefined
    const earlier = this.#nodes.get(url)
    if (earlier !== undefined) return earlier
    const module = this.#modules.get(url)
    if (module !== undefined) return this.#addModule(module)
    if (!this.#graph.isOwn(url)) return this.#addPackage(url)
    const node = this.#add(url, { line: '', imports: [], hash: undefined })
    this.#unread.push({ url, node })
    return node
  }

  /** Adds a node before its imports: they may import it. */
  #add (key: string, node: CodeNode): CodeNode {
    this.#nodes.set(key, node)
    return node
  }

  #addModule (module: SourceModule): CodeNode {
    const digest = hashes.get(module)
    if (digest !== undefined) return this.#add(module.url, { line: '', imports: [], hash: digest })
    const line = `${this.#nameOf(module.file)} ${module.compiled.digest}`
    const node = this.#add(module.url, { line, imports: [], module, hash: undefined })
    this.#addImports(node, module.requested.map(({ url }) => url))
    this.#addImports(node, this.#graph.lateImportsOf(module))
    return node
  }

  #addPackage (url: string): CodeNode {
    const [folder = url, name = url] = PACKAGE.exec(url) ?? []
    return this.#nodes.get(folder) ??
      this.#add(folder, { line: `${name} ${versionIn(folder)}`, imports: [], hash: undefined })
  }

  #addImports (node: CodeNode, urls: readonly string[]): void {
    for (const url of urls) {
      const imported = this.#nodeAt(url)
      if (imported !== undefined) node.imports.push(imported)
    }
  }

  /** The same on every system. */
  #nameOf (file: string): string { return nameIn(this.#root, file).replaceAll(sep, '/') }
}

/** The folder of a package in a URL, and the name of the package. */
const PACKAGE = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//

function versionIn (folder: string): string {
  try {
    const facts: { version?: unknown } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
    return String(facts.version)
  } catch {
    return ''
  }
}

/**
 * Returns the hash of a node and all that it reaches. The nodes of a cycle have one hash: Tarjan's algorithm
 * finds the strongly connected components.
 */
function hashOf (root: CodeNode): string | undefined {
  const positions = new Map<CodeNode, number>()
  const stack: CodeNode[] = []
  if (root.hash === undefined) visit(root)
  return root.hash

  /** Returns the first position on the stack that the node leads back to. */
  function visit (node: CodeNode): number {
    const position = positions.size
    positions.set(node, position)
    stack.push(node)
    let first = position
    for (const imported of node.imports) {
      if (imported.hash === undefined) first = Math.min(first, positions.get(imported) ?? visit(imported))
    }
    if (first === position) hashCycle(stack.splice(stack.lastIndexOf(node)))
    return first
  }
}

/** @param cycle a single node, or all that import each other. */
function hashCycle (cycle: readonly CodeNode[]): void {
  const imports = new Set(cycle.flatMap((node) => node.imports.flatMap((node) => node.hash ?? [])))
  // Sorted: the order in which files are found is not the same on each replica.
  const parts = [cycle.map(({ line }) => line).toSorted(), [...imports].toSorted()]
  const digest = hash('sha256', JSON.stringify(parts), 'base64url')
  for (const node of cycle) {
    node.hash = digest
    if (node.module !== undefined) hashes.set(node.module, digest)
  }
}
