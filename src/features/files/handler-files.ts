// The functions of `ctx.files`.

import { Readable } from 'node:stream'
import type { FileSource, PutOptions, UploadAnswer, UploadOptions } from '../../platform/author/files.ts'
import { elicit } from '../../platform/author/input-request.ts'
import { BYTES_TYPE, mediaTypeOfName } from '../../base/media-types.ts'
import { pauseAfter } from '../../base/retry.ts'
import { cut } from '../../base/text.ts'
import { clock, random, timers } from '../../base/time.ts'
import type { Sender } from '../../platform/limits/holder.ts'
import type { ResourceLink } from '../../platform/protocol/content.ts'
import type { FileClient } from '../../request/pipeline/seams.ts'
import { retryOutage } from '../../platform/store/records/lost-replies.ts'
import { isHeaderType } from './accepted-types.ts'
import { toFileOwner } from './accounts.ts'
import { sliceOf } from './byte-slice.ts'
import { openSource, readTtl, readUpload, toFileName, toOptionError } from './file-options.ts'
import type { FileRoom } from './file-room.ts'
import type { UploadLink } from './links.ts'
import { recordsOwnerOf, type LinkRecord, type ReceivedFile } from './upload-records.ts'

/** How long a handler waits for a file, in milliseconds. Many clients and proxies give up after 60 s. */
const WAIT_MS = 45_000
/** The pauses between two looks for a file whose message is lost. */
const LOOKS = { firstMs: 1000, maxMs: 8000 }
/** The pauses between two looks while the store is away. */
const OUTAGE = { firstMs: 100, maxMs: 1000 }

export async function putFile (
  room: FileRoom, { sender, signal }: FileClient, file: FileSource, options: PutOptions
): Promise<ResourceLink> {
  const ttlMs = readTtl('put', options.ttlMs)
  const source = await openSource(file)
  const name = toFileName(options.name ?? source.name)
  if (name === undefined) {
    const rule = "put: name must be a file's name, such as report.csv"
    throw toOptionError(rule, options.name ?? source.name, 'string')
  }
  const mimeType = options.mimeType ?? mediaTypeOfName(name) ?? BYTES_TYPE
  if (!isHeaderType(mimeType)) {
    throw toOptionError('put: mimeType must be a media type such as text/csv', mimeType, 'string')
  }
  const { files, links, limits, now } = room
  const owner = toFileOwner(sender)
  const expiresAt = Math.ceil(now() + ttlMs)
  // Throws before the file is kept if the service does not know its URL.
  links.findUrl()
  const { key, size } = await files.keep({
    owner,
    bytes: untilAborted(source.bytes, signal),
    maxBytes: limits.maxFileBytes,
    expiresAt,
    ...source.size !== undefined && { size: source.size }
  })
  const uri = links.seal({ kind: 'stored', owner: owner.owner, key, name, mimeType, size }, expiresAt)
  return { type: 'resource_link', uri, name, mimeType, size }
}

export async function askForFile (
  room: FileRoom, client: FileClient, options: UploadOptions
): Promise<UploadAnswer> {
  const { key, message, ...upload } = readUpload(options, room.limits.maxFileBytes)
  const { round, sender } = client
  const owner = toFileOwner(sender)
  // Every run of the handler gets the same link.
  const { url, ...link } = await round.once(`files.upload ${key}`, () => {
    const expiresAt = room.now() + room.limits.uploadTtlMs
    const account = accountOf(sender)
    const link: UploadLink = {
      kind: 'upload',
      ...owner,
      ...upload,
      id: random.name(16),
      records: recordsOwnerOf(owner),
      message,
      expiresAt,
      ...account !== undefined && { account }
    }
    const { id, records } = link
    return { url: room.links.seal(link, expiresAt), id, expiresAt, ...records !== undefined && { records } }
  })
  for (let asks = 1; ; asks++) {
    const question = asks === 1 ? key : `${key} ${asks}`
    const text = asks === 1 ? message : `${message}\n\nThe file has not arrived yet.`
    // Another run may find the file at once, and then does not ask again.
    const { [question]: answer } = await round.ask(
      { [question]: elicit.url({ message: text, url }) }, { isOrdered: false }
    )
    if (answer?.action === 'decline') return { action: 'decline' }
    if (answer?.action !== 'accept') return { action: 'cancel' }
    const file = await waitForFile(room, client, { ...link, owner: owner.owner })
    if (file !== undefined) return toAnswer(room, file)
    if (room.now() >= link.expiresAt) return { action: 'cancel' }
  }
}

/** Waits for the file: the user has only agreed to open the page. Resolves to `undefined` after the time. */
async function waitForFile (
  { uploads, now }: FileRoom, { signal, pauseClock }: FileClient,
  link: LinkRecord & Pick<UploadLink, 'expiresAt'>
): Promise<ReceivedFile | undefined> {
  const resumeClock = pauseClock()
  let arrival = new AbortController()
  const stop = uploads.listen(link, () => arrival.abort())
  try {
    const end = clock.monotonic() + WAIT_MS
    for (let looks = 0; ; looks++) {
      arrival = new AbortController()
      // A handler that waits for its user waits for the store too: the file may have been acknowledged.
      const file = await retryOutage(async () => await uploads.find(link), {
        ...OUTAGE, forMs: end - clock.monotonic(), mayGoOn: () => !signal.aborted
      })
      const leftMs = Math.min(end - clock.monotonic(), link.expiresAt - now())
      if (file !== undefined || leftMs <= 0) return file
      const pauseMs = Math.min(pauseAfter(looks, LOOKS), leftMs)
      await timers.pause(pauseMs, { signal: AbortSignal.any([signal, arrival.signal]) }).catch(() => {})
      signal.throwIfAborted()
    }
  } finally {
    stop()
    resumeClock()
  }
}

function toAnswer ({ storage }: FileRoom, { key, name, mimeType, size }: ReceivedFile): UploadAnswer {
  async function * read (): AsyncGenerator<Uint8Array> {
    const stream = await storage.read(key)
    if (stream === undefined) throw new Error(`the uploaded file ${JSON.stringify(name)} has expired`)
    yield * sliceOf(stream, { length: size })
  }

  return {
    action: 'accept',
    name,
    mimeType,
    size,
    stream: () => Readable.from(read(), { objectMode: false })
  }
}

/** Returns a name that the user knows, for the page. */
function accountOf ({ principal: { claims = {}, subject } }: Sender): string | undefined {
  const names = [claims.email, claims.preferred_username, claims.name, subject]
  const name = names.find((candidate) => typeof candidate === 'string' && candidate !== '')
  return typeof name === 'string' ? cut(name, 100) : undefined
}

async function * untilAborted (
  bytes: AsyncIterable<Uint8Array>, signal: AbortSignal
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted()
    yield chunk
  }
}
