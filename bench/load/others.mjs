// What else the machine does: the CPU time that neither the server that is measured nor the load generator
// has used.

import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** A turn in which others used more than this share of the machine is not calm. */
const CALM_SHARE = 0.1
const PAUSE_MS = 1000

/**
 * @returns {(serverMs: number) => number} to be called at the end, with the server's CPU time: the share of
 * others
 */
export function watchOthers () {
  const before = machineMs()
  const own = process.cpuUsage()
  return (serverMs) => {
    const after = machineMs()
    const { user, system } = process.cpuUsage(own)
    const others = after.busy - before.busy - serverMs - (user + system) / 1000
    return Math.max(0, others / (after.total - before.total || 1))
  }
}

/**
 * For `--calm`: whether what was measured is to be measured again, because others were busy. Waits a little
 * before it says so, and stops saying so when all the seconds that may be spent on it are spent.
 *
 * @param {number} seconds
 * @returns {(share: number, spentMs: number) => Promise<boolean>}
 */
export function createPatience (seconds) {
  let leftMs = seconds * 1000
  return async (share, spentMs) => {
    if (share <= CALM_SHARE || leftMs <= 0) return false
    leftMs -= spentMs + PAUSE_MS
    await sleep(PAUSE_MS)
    return true
  }
}

function machineMs () {
  let busy = 0
  let total = 0
  for (const { times: { user, nice, sys, idle, irq } } of cpus()) {
    busy += user + nice + sys + irq
    total += user + nice + sys + irq + idle
  }
  return { busy, total }
}
