// Folders that cost the most to list, to watch and to read: many files, many tools, and many packages beside
// them.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeCatalog } from './catalog-folder.mjs'

const FEW_TOOLS = 50
export const MANY_TOOLS = 5000
export const FILES = 10_000
const FILES_IN_FOLDER = 100
/** Files whose names have no type: a load reads the beginning of each. */
export const DOCUMENTS = 4490
const DOCUMENTS_IN_FOLDER = 10
export const PACKAGES = 2000
export const FILES_IN_PACKAGE = 25

/** The name of the tool that `editTool` changes. */
export const EDITED = 'edited'

/** @param {string} folder created if missing; it has the edited tool beside those of `kind` */
export async function writeLargeFolder (folder, kind) {
  await writeCatalog(folder, kind === 'tools' ? MANY_TOOLS : FEW_TOOLS)
  await editTool(folder, 'first')
  const write = (name, ...many) => writeMany(join(folder, name), ...many)
  if (kind === 'files') await write('resources', FILES / FILES_IN_FOLDER, FILES_IN_FOLDER, text)
  if (kind === 'documents') {
    await write('resources', DOCUMENTS / DOCUMENTS_IN_FOLDER, DOCUMENTS_IN_FOLDER, document)
  }
  if (kind === 'packages') await write('node_modules', PACKAGES, FILES_IN_PACKAGE, code)
}

/**
 * Changes the text that the tool returns. The file is written elsewhere and renamed, so that a reader never
 * sees half a file.
 */
export async function editTool (folder, text) {
  const aside = join(folder, '..', `${EDITED}.next`)
  await writeFile(aside, `import { defineTool } from 'trivet'

export default defineTool({ name: '${EDITED}', description: 'Changes often.', run: () => '${text}' })
`)
  await rename(aside, join(folder, 'tools', `${EDITED}.ts`))
}

const text = (index) => [`page-${index}.md`, `# Page ${index}\n\n${'Three legs never wobble. '.repeat(20)}\n`]
const document = (index) => [`page-${index}`, `Page ${index}\n\n${'Three legs never wobble. '.repeat(300)}\n`]
const code = (index) => [`module-${index}.js`, `export const value = ${index}\n`]

async function writeMany (folder, folders, filesInEach, fileOf) {
  for (let outer = 0; outer < folders; outer++) {
    const inner = join(folder, `part-${outer}`)
    await mkdir(inner, { recursive: true })
    await Promise.all(Array.from({ length: filesInEach }, (_, index) => {
      const [name, contents] = fileOf(index)
      return writeFile(join(inner, name), contents)
    }))
  }
}
