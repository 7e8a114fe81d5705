// Writes the licences of the packages that are in the bundle. Most ask that their text travels with the code.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files of these names are texts of licences, or what a licence asks to pass on with it. */
const TEXT = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

const HEADING = `# Licences of other packages

The modules in this folder have code of these packages.
`

/**
 * @param {Awaited<ReturnType<typeof import('./bundled.mjs').listBundled>>} packages
 * @param {string} file is written
 */
export async function writeLicences (packages, file) {
  const sections = await Promise.all(packages.map(toSection))
  await writeFile(file, [HEADING, ...sections].join('\n'))
}

async function toSection ({ folder, name, version, license, author }) {
  const files = (await readdir(folder)).filter((file) => TEXT.test(file)).toSorted()
  const texts = await Promise.all(files.map(async (file) => await readFile(join(folder, file), 'utf8')))
  // Some packages name their licence and do not have its text.
  const text = texts.length > 0 ? texts.join('\n') : `By ${author ?? 'its authors'}.`
  return `## ${name} ${version}: ${license}\n\n\`\`\`\n${text.trim()}\n\`\`\`\n`
}
