// A resource that a test changes, to check that sessions are notified.

import type { Test } from 'tap'
import { until } from '../helpers/deadline.ts'
import type { OfficialClient } from './legacy-client.ts'

/** How long a notification or a restart may take, in milliseconds. */
export const SLOW_MS = 30_000

/** Returns a URI, and a function that changes its resource. */
export async function createBell (
  client: OfficialClient | undefined
): Promise<readonly [string, () => Promise<void>]> {
  if (client === undefined) throw new TypeError('unreachable')
  const { basketId } = JSON.parse((await client.call('create_basket')).content[0].text)
  return [
    `basket://${basketId}`,
    async () => {
      // On a busy machine the store may be late. Whoever rings does so again.
      await client.call('add_to_basket', { basketId, bookId: 'moby-dick' }).catch((error: Error) => {
        if (!error.message.includes('at the moment')) throw error
      })
    }
  ]
}

/** Checks that the session is notified of changes, on any replica. */
export async function checkTold (t: Test, connected: OfficialClient): Promise<void> {
  const { follow, notifications } = connected
  const [uri, ring] = await createBell(connected)
  await follow(uri)
  const isTold = () => notifications.some(({ params }) => params?.uri === uri)
  // Repeated, because a stream that broke before its first event is resumed without a Last-Event-ID: its
  // missed notifications are lost.
  await until(async () => {
    await ring()
    return isTold()
  }, 'the notification', SLOW_MS)
  t.ok(isTold())
}
