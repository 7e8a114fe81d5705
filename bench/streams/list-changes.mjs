// Streams of list changes: records the bytes of a stream, and times a change on all streams of one client.

import { writeFile } from 'node:fs/promises'
import { changeTool } from '../catalog/catalog-folder.mjs'
import { startTrivet } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'
import { arrivals, startStreamClient } from './stream-client.mjs'

export const NOTIFICATIONS = { toolsListChanged: true }

let changes = 0

/** Changes the list of tools. */
export function describeAnew (catalog) {
  return changeTool(catalog, 0, `Searches collection 0, change no. ${++changes}.`)
}

/** Does `change`, and resolves when all streams of the client have the notification. */
export async function arrival (client, change) {
  const { arrived: [all] } = await arrivals([client], 'notifications/tools/list_changed', change)
  return all
}

/** Records the bytes that Trivet writes to a stream, so that the bare server can write the same bytes. */
export async function recordStream (main, catalog) {
  return holding(() => startTrivet({ main, catalog }), async (server, client) => {
    const acknowledgement = await client.open(server.url, 1, NOTIFICATIONS)
    const { frame } = await arrival(client, () => describeAnew(catalog))
    const file = workspacePath('answers.json')
    await writeFile(file, JSON.stringify({ 'subscriptions/listen': acknowledgement, notification: frame }))
    return file
  })
}

/** Does `work` with a new server and a new client, and ends both. */
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
