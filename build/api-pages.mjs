// Makes the pages of docs/api from the docstrings of what 'trivet' and 'trivet/testing' export.
// `npm run api` writes them.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, ReflectionKind } from 'typedoc'
import { load } from 'typedoc-plugin-markdown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The file of each entry, and the name by which catalogs import it. */
const ENTRIES = { index: 'trivet', testing: 'trivet/testing' }

/**
 * Writes a page for each entry, and README.md with their list.
 * @param {string} folder is emptied before
 * @returns {Promise<string[]>} the exported functions without an example
 */
export async function writeApiPages (folder) {
  const app = await Application.bootstrapWithPlugins({
    plugin: [load],
    entryPoints: Object.keys(ENTRIES).map((name) => join(ROOT, `src/${name}.ts`)),
    tsconfig: join(ROOT, 'build/tsconfig.api.json'),
    // `npm run typecheck` checks the types.
    skipErrorChecking: true,
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    readme: 'none',
    name: 'API',
    outputs: [{ name: 'markdown', path: folder }],
    outputFileStrategy: 'modules',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    // Some types of members are not exported: their names say enough.
    validation: { notExported: false },
    parametersFormat: 'table',
    // A list gives the property `code` of `AuthenticationError` the anchor of `AuthenticationErrorCode`.
    classPropertiesFormat: 'table',
    useCodeBlocks: true,
    logLevel: 'Warn'
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc has made no model of the exports')
  for (const entry of project.children ?? []) entry.name = ENTRIES[entry.name]
  describeOnce(project)
  await app.generateOutputs(project)
  return project.getReflectionsByKind(ReflectionKind.Function)
    .filter(({ signatures = [] }) => !signatures.some(({ comment }) => comment?.getTag('@example')))
    .map(({ name }) => name)
}

/** The page of an exported type describes its members. Those of other types stay where they are inherited. */
function describeOnce (project) {
  for (const reflection of project.getReflectionsByKind(ReflectionKind.All)) {
    if (reflection.inheritedFrom?.reflection !== undefined) project.removeReflection(reflection)
    else delete reflection.inheritedFrom
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeApiPages(join(ROOT, 'docs/api'))
