// Writes the licences of the packages that are in the bundle. Most ask that their text travels with the code.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/
/** Files of these names are texts of licences, or what a licence asks to pass on with it. */
const TEXT = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

const HEADING = `# Licences of other packages

The modules in this folder have code of these packages.
`

/**
 * @param {readonly string[]} inputs the paths of the bundled files
 * @param {string} file is written
 */
export async function writeLicences (inputs, file) {
  const folders = new Set(inputs.flatMap((input) => PACKAGE.exec(input) ?? []))
  const sections = await Promise.all([...folders].map(toSection))
  const sorted = [...new Set(sections)].toSorted()
  await writeFile(file, [HEADING, ...sorted].join('\n'))
}

async function toSection (folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => TEXT.test(file)).toSorted()
  const texts = await Promise.all(files.map(async (file) => await readFile(join(folder, file), 'utf8')))
  // Some packages name their licence and do not have its text.
  const text = texts.length > 0 ? texts.join('\n') : `By ${author?.name ?? author ?? 'its authors'}.`
  return `## ${name} ${version}: ${license}\n\n\`\`\`\n${text.trim()}\n\`\`\`\n`
}
