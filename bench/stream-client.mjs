// The bench's side of stream-holder.mjs: commands out, answers or a failure back.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const HOLDER = fileURLToPath(new URL('stream-holder.mjs', import.meta.url))
const TIMEOUT_MS = 60_000

const holders = new Set()
process.once('exit', () => { for (const holder of holders) holder.kill('SIGKILL') })

/**
 * Starts a process that holds streams.
 *
 * `open` resolves with the acknowledgement's bytes when all streams have theirs; `arrival` does `change` and resolves,
 * when a notification has come on every stream, with its bytes and the time from the first arrival to the last.
 */
export function startStreamClient () {
  const holder = fork(HOLDER)
  holders.add(holder)
  holder.once('exit', () => holders.delete(holder))
  let failure
  holder.on('message', ({ failed }) => { if (failed !== undefined) failure ??= new Error(`streams: ${failed}`) })
  const check = () => { if (failure !== undefined) throw failure }
  const command = async (message, answer) => {
    check()
    const answered = nextMessage(holder, answer)
    holder.send(message)
    return answered
  }
  return {
    open: (url, count) => command({ command: 'open', url, count }, 'opened'),
    async arrival (change) {
      await command({ command: 'expect' }, 'expecting')
      const arrived = nextMessage(holder, 'arrived')
      const [result] = await Promise.all([arrived, change()])
      return result
    },
    /** Throws where anything has gone wrong with the streams so far. */
    check,
    close: () => command({ command: 'close' }, 'closed'),
    stop: () => { holder.kill() }
  }
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
    const late = setTimeout(() => settle(reject, new Error(`streams: not all ${key} within ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
    holder.on('message', onMessage)
    holder.once('exit', onExit)
  })
}
