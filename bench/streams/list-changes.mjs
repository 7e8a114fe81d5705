// Streams of list changes: what Trivet writes to one, and how a change reaches those of one client.

import { writeFile } from 'node:fs/promises'
import { changeTool } from '../catalog/catalog-folder.mjs'
import { startTrivet } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'
import { arrivals, startStreamClient } from './stream-client.mjs'

export const NOTIFICATIONS = { toolsListChanged: true }

let changes = 0

/** A change to the list of tools. */
export function describeAnew (catalog) {
  return changeTool(catalog, 0, `Searches collection 0, change no. ${++changes}.`)
}

/** Does `change`, and resolves when all of the client's streams know. */
export async function arrival (client, change) {
  const { arrived: [all] } = await arrivals([client], 'notifications/tools/list_changed', change)
  return all
}

/** Records what Trivet writes to a stream, for the bare server to write the same. */
export async function recordStream (main, catalog) {
  return holding(() => startTrivet({ main, catalog }), async (server, client) => {
    const acknowledgement = await client.open(server.url, 1, NOTIFICATIONS)
    const { frame } = await arrival(client, () => describeAnew(catalog))
    const file = workspacePath('answers.json')
    await writeFile(file, JSON.stringify({ 'subscriptions/listen': acknowledgement, notification: frame }))
    return file
  })
}

/** Does `work` with a server and a client of its own, and ends both. */
export async function holding (start, work) {
  const server = await start()
  const client = startStreamClient()
  try {
    return await work(server, client)
  } finally {
    client.stop()
    await server.stop()
  }
}
