// The same data as a catalog folder: one file per tool, per prompt and per resource, as an author would write them.

import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prompts, resources, SERVER, tools } from './data.mjs'

const SEARCH = fileURLToPath(new URL('search.mjs', import.meta.url))

/**
 * @param {string} folder made if it is not there
 * @param {number} toolCount
 */
export async function writeCatalog (folder, toolCount) {
  for (const name of ['tools', 'prompts', 'resources', 'lib']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'server.yaml'), `name: ${SERVER.name}\nversion: ${SERVER.version}\n`)
  await copyFile(SEARCH, join(folder, 'lib', 'search.mjs'))
  for (const tool of tools(toolCount)) await writeFile(join(folder, 'tools', `${tool.name}.ts`), toolSource(tool))
  for (const prompt of prompts()) await writeFile(join(folder, 'prompts', `${prompt.name}.md`), promptSource(prompt))
  for (const resource of resources()) {
    await writeFile(join(folder, 'resources', `${resource.name}.resource.ts`), resourceSource(resource))
  }
}

/** Gives the first tool another description. Written aside and renamed, so that nobody reads half a file. */
export async function changeTool (folder, description) {
  const [tool] = tools(1)
  const aside = join(folder, '..', `${tool.name}.next`)
  await writeFile(aside, toolSource({ ...tool, description }))
  await rename(aside, join(folder, 'tools', `${tool.name}.ts`))
}

function toolSource ({ name, title, description, inputSchema, outputSchema }) {
  return `import { defineTool } from 'trivet'
import { search } from '../lib/search.mjs'

export default defineTool({
  name: '${name}',
  title: '${title}',
  description: '${description}',
  inputSchema: ${JSON.stringify(inputSchema)},
  outputSchema: ${JSON.stringify(outputSchema)},
  run: (args) => search('${name}', args)
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

export default defineResource({ uri: '${uri}', name: '${name}', title: '${title}', mimeType: '${mimeType}', read: () => text })
`
}
