// Writes the definitions as a catalog folder, as an author would: one file per tool, per prompt and per
// resource.

import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prompts, resources, SERVER, tools } from './definitions.mjs'

const WORK = fileURLToPath(new URL('work.mjs', import.meta.url))
const FOLDERS = ['tools', 'prompts', 'resources', 'lib']

/**
 * @param {string} folder created if missing
 * @param {number} toolCount
 */
export async function writeCatalog (folder, toolCount) {
  for (const name of FOLDERS) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'server.yaml'), `name: ${SERVER.name}\nversion: ${SERVER.version}\n`)
  await copyFile(WORK, join(folder, 'lib', 'work.mjs'))
  const write = (name, source) => writeFile(join(folder, name), source)
  for (const tool of tools(toolCount)) await write(`tools/${tool.name}.ts`, toolSource(tool))
  for (const prompt of prompts()) await write(`prompts/${prompt.name}.md`, promptSource(prompt))
  for (const resource of resources()) {
    await write(`resources/${resource.name}.resource.ts`, resourceSource(resource))
  }
}

/**
 * Gives one tool another description. The file is written elsewhere and renamed, so that a reader never sees
 * half a file.
 */
export async function changeTool (folder, index, description) {
  const tool = tools(index + 1)[index]
  const aside = join(folder, '..', `${tool.name}.next`)
  await writeFile(aside, toolSource({ ...tool, description }))
  await rename(aside, join(folder, 'tools', `${tool.name}.ts`))
}

function toolSource ({ name, kind, title, description, inputSchema, outputSchema }) {
  const output = outputSchema === undefined ? '' : `\n  outputSchema: ${JSON.stringify(outputSchema)},`
  return `import { defineTool } from 'trivet'
import { WORK } from '../lib/work.mjs'

export default defineTool({
  name: '${name}',
  title: '${title}',
  description: '${description}',
  inputSchema: ${JSON.stringify(inputSchema)},${output}
  run: (args) => WORK.${kind}('${name}', args)
})
`
}

function promptSource ({ title, description, argument, text }) {
  return `---
title: ${title}
description: ${description}
arguments:
  - name: ${argument.name}
    description: ${argument.description}
    required: true
---
${text(`{{${argument.name}}}`)}
`
}

function resourceSource ({ uri, name, title, mimeType, text }) {
  return `import { defineResource } from 'trivet'

const text: string = '${text}'

export default defineResource({
  uri: '${uri}',
  name: '${name}',
  title: '${title}',
  mimeType: '${mimeType}',
  read: () => text
})
`
}
