// What tap gets as "async-hook-domain": it tells the running test of each error that nobody has caught. That
// package finds the test which began the work, and follows every promise of the process for it: a third of
// the CPU time of tests with many promises. Tests of a process run one after the other, so the error belongs
// to the innermost test that runs.

import { executionAsyncResource } from 'node:async_hooks'

/** Innermost last. tap makes the domain of a test when the test is declared. It may run much later. */
const domains = []

export class Domain {
  /** @param onerror takes the error and the name of its event */
  constructor (onerror) {
    this.onerror = onerror
    // tap makes the domain of a test in the scope of an async resource that has the test.
    const { test } = executionAsyncResource()
    this.test = domains.some((domain) => domain.test === test) ? undefined : test
    // The second domain of the root comes when the first output is written: a test may have begun.
    if (this.test === undefined) domains.unshift(this)
    else domains.push(this)
  }

  destroy () {
    const index = domains.indexOf(this)
    if (index >= 0) domains.splice(index, 1)
  }
}

/** Returns whether a test took the error. A test that listens for such errors itself gets it alone. */
function tell (error, event) {
  const hasListener = process.listenerCount('uncaughtException') > 0
  if (hasListener || process.hasUncaughtExceptionCaptureCallback()) return false
  const domain = domains.findLast(({ test }) => test === undefined || test.started)
  domain?.onerror(error, event)
  return domain !== undefined
}

process.on('uncaughtExceptionMonitor', (error, event) => {
  // Node looks for a callback after it has told the monitor, and goes on if there is one.
  if (tell(error, event)) {
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
  }
})

const emit = process.emit
// A listener would be seen by tests that count the listeners.
process.emit = function (event, ...args) {
  if (event === 'unhandledRejection' && process.listenerCount(event) === 0) return tell(args[0], event)
  return emit.call(this, event, ...args)
}
