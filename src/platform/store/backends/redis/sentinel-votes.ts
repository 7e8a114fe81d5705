// Asks the Sentinels whether a Redis is the master. A master that was cut off, or that starts again after a
// failover, does not learn for seconds that another has taken its place.

import type { Redis } from 'ioredis'
import { withinDeadline } from '../../../../base/deadline.ts'

/** How long a Sentinel may take to answer, in milliseconds. */
const ANSWER_MS = 500
const RUN_ID = /^run_id:(\w+)/m
/** What a Sentinel says of a master that it does not reach, or replaces. Not at once after a failover. */
const DISPUTED = /_down|failover/

/** The members of Sentinel's answer that tell a server. */
interface NamedMaster { readonly [member: string]: string | undefined }

/**
 * Resolves to whether more than half of the Sentinels name the server of the connection as the master, and
 * reach it.
 * @param openSentinels returns connections that are not connected yet. They are closed.
 */
export async function isNamedByMost (
  client: Redis, openSentinels: () => readonly Redis[], name: string
): Promise<boolean> {
  const [, runId] = RUN_ID.exec(String(await client.call('INFO', 'server'))) ?? []
  const { remoteAddress, remotePort } = client.stream
  const isThis = ({ ip, port, runid, flags = '' }: NamedMaster) => {
    // A proxy or a name hides the address. The run id is known ten seconds after a start at the latest.
    const isSame = (ip === remoteAddress && port === String(remotePort)) || runid === runId
    return isSame && !DISPUTED.test(flags)
  }
  const votes = await Promise.all(openSentinels().map(async (sentinel) => {
    return await ask(sentinel, name).then(isThis, () => false)
  }))
  return votes.filter(Boolean).length > votes.length / 2
}

async function ask (sentinel: Redis, name: string): Promise<NamedMaster> {
  // Without a listener the driver writes errors to the console. The call rejects too.
  sentinel.on('error', () => {})
  const answer = sentinel.call('SENTINEL', 'MASTER', name)
  try {
    const members = await withinDeadline(answer, ANSWER_MS, () => new Error('the Sentinel is late'))
    if (!Array.isArray(members)) throw new TypeError('the answer of the Sentinel is no list')
    const texts = members.map(String)
    return Object.fromEntries(texts.flatMap((text, at) => at % 2 === 0 ? [[text, texts[at + 1]]] : []))
  } finally {
    sentinel.disconnect()
  }
}
