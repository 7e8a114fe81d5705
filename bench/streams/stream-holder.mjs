// A process that holds streams open, and records the arrival times of notifications. Commands come over IPC:
// `open` a number of streams, `expect` one notification with a given text on each, `close` all.

import { Agent, request as httpRequest } from 'node:http'
import { sharedNow } from './clock.mjs'
import { modernRequest } from '../requests/messages.mjs'

const OPENING_AT_ONCE = 100
const ACKNOWLEDGEMENT = 'notifications/subscriptions/acknowledged'

// Connections are not kept alive, because each stream has its own connection.
const agent = new Agent({ keepAlive: false, maxSockets: Infinity })
const streams = new Set()
let round

process.on('message', async ({ command, url, count, notifications, text }) => {
  try {
    if (command === 'open') {
      const listen = modernRequest('subscriptions/listen', { notifications })
      process.send({ opened: await openAll(url, count, listen) })
    }
    if (command === 'expect') {
      round = { text, missing: new Set(streams), times: [] }
      process.send({ expecting: true })
    }
    if (command === 'close') {
      for (const stream of streams) stream.destroy()
      streams.clear()
      process.send({ closed: true })
    }
  } catch (error) {
    fail(error.message)
  }
})

/** Opens the streams. Resolves with the acknowledgement, which is the same for all streams. */
async function openAll (url, count, listen) {
  let acknowledgement
  for (let opened = 0; opened < count; opened += OPENING_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENING_AT_ONCE, count - opened) }, () => open(url, listen))
    acknowledgement = (await Promise.all(some))[0]
  }
  return acknowledgement
}

/** Opens a stream, and resolves with the bytes of the acknowledgement, the first message. */
function open (url, { headers, body }) {
  return new Promise((resolve, reject) => {
    const stream = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      streams.add(stream)
      response.setEncoding('utf8')
      let buffered = ''
      let acknowledged = false
      response.on('data', (chunk) => {
        buffered += chunk
        for (let end = buffered.indexOf('\n\n'); end !== -1; end = buffered.indexOf('\n\n')) {
          const frame = buffered.slice(0, end + 2)
          buffered = buffered.slice(end + 2)
          if (frame.startsWith(':')) continue
          if (acknowledged) {
            onNotification(stream, frame)
          } else if (response.statusCode === 200 && frame.includes(ACKNOWLEDGEMENT)) {
            acknowledged = true
            resolve(frame)
          }
        }
      })
      response.on('end', () => {
        const answered = `${url} answered subscriptions/listen with ${response.statusCode}: ${buffered}`
        if (!acknowledged) reject(new Error(answered))
        else if (streams.has(stream)) fail(`${url} has ended a stream`)
      })
    })
    stream.on('error', (error) => { if (streams.has(stream)) fail(error.message); else reject(error) })
    stream.end(body)
  })
}

function onNotification (stream, frame) {
  const now = sharedNow()
  if (round === undefined || !frame.includes(round.text) || !round.missing.delete(stream)) {
    fail(`a message that no change explains: ${frame}`)
    return
  }
  round.times.push(now)
  if (round.missing.size > 0) return
  process.send({ arrived: { frame, times: round.times } })
  round = undefined
}

function fail (message) {
  process.send({ failed: message })
}
