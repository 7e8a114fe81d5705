// A tool of the catalog that announces a change, and returns the time of the announcement.

import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'

const CLOCK = fileURLToPath(new URL('clock.mjs', import.meta.url))

/** Adds the tool to an existing catalog. */
export async function writeAnnouncer (folder) {
  await copyFile(CLOCK, join(folder, 'lib', 'clock.mjs'))
  await writeFile(join(folder, 'tools', 'announce.ts'), `import { defineTool } from 'trivet'
import { sharedNow } from '../lib/clock.mjs'

export default defineTool({
  name: 'announce',
  description: 'Tells everyone who follows a resource that it has changed.',
  inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
  run ({ uri }, ctx) {
    const announcedAt = sharedNow()
    ctx.notify.resourceUpdated(uri)
    return { announcedAt }
  }
})
`)
}

/** @returns the time of the announcement, by the clock that all processes share */
export async function announce (url, uri) {
  const params = { name: 'announce', arguments: { uri } }
  return (await ask(url, modernRequest('tools/call', params))).structuredContent.announcedAt
}
