// Controls stream-holder.mjs: sends commands, and receives answers or a failure.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const HOLDER = fileURLToPath(new URL('stream-holder.mjs', import.meta.url))
const TIMEOUT_MS = 60_000
/** The number of streams that are opened and closed before memory is read for the first time. */
export const WARM_UP_STREAMS = 100
/** A pause before memory is read, in which the temporary memory of opening streams is freed. */
export const SETTLE_MS = 3000

const holders = new Set()
process.once('exit', () => { for (const holder of holders) holder.kill('SIGKILL') })

/**
 * Starts a process that holds streams. `open` resolves with the bytes of the acknowledgement when all streams
 * are acknowledged.
 */
export function startStreamClient () {
  const holder = fork(HOLDER)
  holders.add(holder)
  holder.once('exit', () => holders.delete(holder))
  let failure
  holder.on('message', ({ failed }) => {
    if (failed !== undefined) failure ??= new Error(`streams: ${failed}`)
  })
  const check = () => { if (failure !== undefined) throw failure }
  const command = async (message, answer) => {
    check()
    const answered = nextMessage(holder, answer)
    holder.send(message)
    return answered
  }
  return {
    open: (url, count, notifications) => command({ command: 'open', url, count, notifications }, 'opened'),
    /** Expects one notification with this text on every stream, and nothing else. */
    expect: (text) => command({ command: 'expect', text }, 'expecting'),
    /**
     * Resolves when the expected notification has come on every stream, with its bytes and the times of
     * arrival in order.
     */
    arrived: () => nextMessage(holder, 'arrived'),
    /** Throws if a stream has failed so far. */
    check,
    close: () => command({ command: 'close' }, 'closed'),
    stop: () => { holder.kill() }
  }
}

/**
 * Does `change`, and resolves when a notification with this text has come on every stream of every client.
 *
 * @returns `changed`: the result of `change`; `arrived`: the bytes and the times of arrival, for each client
 */
export async function arrivals (clients, text, change) {
  await Promise.all(clients.map((client) => client.expect(text)))
  const [changed, ...arrived] = await Promise.all([change(), ...clients.map((client) => client.arrived())])
  return { changed, arrived }
}

function nextMessage (holder, key) {
  return new Promise((resolve, reject) => {
    const settle = (done, value) => {
      clearTimeout(late)
      holder.off('message', onMessage)
      holder.off('exit', onExit)
      done(value)
    }
    const onMessage = (message) => {
      if (message.failed !== undefined) settle(reject, new Error(`streams: ${message.failed}`))
      if (message[key] !== undefined) settle(resolve, message[key])
    }
    const onExit = () => settle(reject, new Error('streams: the process that held them is gone'))
    const timeOut = () => settle(reject, new Error(`streams: not all ${key} within ${TIMEOUT_MS} ms`))
    const late = setTimeout(timeOut, TIMEOUT_MS)
    holder.on('message', onMessage)
    holder.once('exit', onExit)
  })
}
