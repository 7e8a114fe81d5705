// What the build lists: the packages in the bundle, and those that Node loads.

import { parse, type AnyNode } from 'acorn'
import { readdir, readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly properties: ReadonlyArray<{ readonly name: string, readonly value: string }>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const manifest = await readJson(join(ROOT, 'package.json'))
const sbom = await readJson(join(ROOT, 'dist/sbom.cdx.json'))
const components: readonly Component[] = sbom.components
const files = (await readdir(join(ROOT, 'dist'), { recursive: true })).map((name) => join(ROOT, 'dist', name))
const maps = files.filter((file) => file.endsWith('.js.map'))

async function readJson (file: string) {
  return JSON.parse(await readFile(file, 'utf8'))
}

/** The name of a package, from a path or from what an import names. */
function packageOf (text: string): string | undefined {
  return /^(?:.*node_modules\/)?((?:@[^/]+\/)?[^/]+)/.exec(text)?.[1]
}

/** What the module imports and requires, by texts. */
function readImports (text: string): string[] {
  const imports: string[] = []
  const visit = (node: AnyNode): void => {
    const source = node.type === 'CallExpression'
      ? node.callee.type === 'Identifier' && node.callee.name === 'require' ? node.arguments[0] : undefined
      : 'source' in node ? node.source : undefined
    if (source?.type === 'Literal' && typeof source.value === 'string') imports.push(source.value)
    for (const value of Object.values(node)) {
      for (const child of [value].flat()) if (typeof child?.type === 'string') visit(child)
    }
  }
  visit(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }))
  return imports
}

t.test('each package whose code is in dist/ is in the list, with its version and the reason', async (t) => {
  const sources = await Promise.all(maps.map(async (map): Promise<string[]> => (await readJson(map)).sources))
  const bundled = sources.flat().filter((source) => source.includes('node_modules/')).map(packageOf)
  const named = components.map(({ name }) => name)
  t.ok(bundled.includes('@opentelemetry/core'), 'what is bundled is seen')
  t.strictSame([...new Set(bundled)].filter((name = '') => !named.includes(name)), [])
  // The code for browsers has no map.
  t.ok(named.includes('preact'))
  for (const { name, version, purl, properties: [bundle] } of components) {
    t.equal(version, (await readJson(join(ROOT, 'node_modules', name, 'package.json'))).version, name)
    t.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`)
    t.match(bundle, { name: 'trivet:bundled', value: /^\w.+\w$/ })
  }
})

t.test('the list is CycloneDX 1.6, with the ranges of the dependencies', async (t) => {
  const { metadata: { component }, dependencies } = sbom
  t.match(sbom, { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
  t.match(component, { type: 'application', name: 'trivet', version: manifest.version })
  const ranges = Object.entries(manifest.dependencies).map(([name, range]) => `${name}@${range}`)
  t.strictSame(component.properties.map(({ value }: { readonly value: string }) => value), ranges)
  t.strictSame(dependencies, [{ ref: component.purl, dependsOn: components.map(({ purl }) => purl) }])
})

t.test('each package that dist/ imports is a dependency', async (t) => {
  const modules = files.filter((file) => /\.(?:js|d\.ts)$/.test(file) && !file.includes('/console/'))
  const texts = await Promise.all(modules.map(async (file) => [file, await readFile(file, 'utf8')] as const))
  const imports = texts.flatMap(([file, text]) => file.endsWith('.ts')
    ? [...text.matchAll(/\b(?:from|import\() ?'([^']+)'/g)].map(([, name = '']) => name)
    : readImports(text))
  const packages = new Set(imports.filter((name) => /^[^./]/.test(name) && !isBuiltin(name)).map(packageOf))
  t.ok(packages.has('fastify'), 'what is imported is seen')
  t.strictSame([...packages].filter((name = '') => !(name in manifest.dependencies)), [])
})

t.test('the source maps have the sources, which the package lacks', async (t) => {
  t.ok(manifest.files.every((name: string) => !name.startsWith('!')))
  const contents = await Promise.all(maps.map(async (map) => [map, await readJson(map)] as const))
  const incomplete = contents.filter(
    ([, { sources, sourcesContent }]) => sourcesContent?.length !== sources.length
  )
  t.strictSame(incomplete.map(([map]) => map), [])
})
