// Measures the CPU time of other processes: all CPU time of the machine except that of the measured server
// and of the load generator.

import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** A turn is calm if other processes used at most this share of the machine. */
export const CALM_SHARE = 0.1
const PAUSE_MS = 1000

/**
 * @returns {(serverMs: number) => number} to be called at the end with the CPU time of the server; returns
 * the share of the machine that other processes used
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

/** Resolves to the share of the machine that other processes use now. */
export async function measureOthers () {
  const shareOfOthers = watchOthers()
  await sleep(PAUSE_MS)
  return shareOfOthers(0)
}

/**
 * For `--calm`: resolves with whether to repeat a measurement because other processes were busy. Pauses
 * before each repetition. Allows no further repetition when the seconds are spent.
 *
 * @param {number} seconds to spend on repetitions
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
