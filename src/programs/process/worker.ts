// One of several workers, as its own process sees it: it does what its parent says, and ends with it.

import cluster from 'node:cluster'
import type { WorkerReports } from '../../app/features.ts'
import type { Workers } from '../../app/own-process.ts'
import { messageOf } from '../../base/words.ts'
import type { HealthReport } from '../../edges/http/readiness.ts'
import { Link } from './link.ts'

/** Has the role of a worker, as JSON. The parent sets it. */
const VARIABLE = 'TRIVET_WORKER'

/** What a worker must know at its start. */
export interface WorkerRole {
  /** From 1. A worker that takes the place of another one has its number. */
  readonly number: number
  readonly count: number
  /** Whether the log of the parent is for people. */
  readonly isForPeople: boolean
}

/** How the parent ends a worker. */
export interface StopOrder {
  readonly signal: string | undefined
  /** How long requests may take, in milliseconds. */
  readonly timeoutMs: number
}

/** What the parent says. */
interface Orders {
  /** Load balancers shall send requests elsewhere. The worker still serves. */
  turnUnready (): void
  reload (): void
  /** @param order absent if the parent has ended. */
  stop (order?: StopOrder): void
  reports (): WorkerReports | undefined
}

export interface ParentLink extends Workers {
  /** Tells the parent that the worker serves. */
  tellReady (): void
}

/** The variables of a worker that are not those of the parent. */
export function toRoleVariables (role: WorkerRole): { readonly [variable: string]: string } {
  return { [VARIABLE]: JSON.stringify(role) }
}

/** Removes the role from the environment, which modules can read. `undefined` if the process is no worker. */
export function takeRole (): WorkerRole | undefined {
  const { [VARIABLE]: text } = process.env
  if (text === undefined || cluster.worker === undefined) return undefined
  Reflect.deleteProperty(process.env, VARIABLE)
  return JSON.parse(text)
}

export function openParentLink ({ count }: WorkerRole, orders: Orders): ParentLink {
  const send = (message: object) => {
    // A parent that has just ended gets no messages: that is no error here.
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  }
  const link = new Link(send, new Map<string, (value: unknown) => unknown>([
    ['alive', () => true],
    ['unready', () => orders.turnUnready()],
    ['reload', () => orders.reload()],
    ['stop', (value) => orders.stop(toStopOrder(value))],
    ['metrics', async () => await orders.reports()?.metrics()],
    ['health', async () => await orders.reports()?.health()]
  ]))
  process.on('message', (message) => link.receive(message))
  // Otherwise Node ends the process in this moment, with its requests.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  process.on('disconnect', () => orders.stop())
  link.tell('listening')
  return {
    count,
    tellReady () { link.tell('ready') },
    metrics: async () => String(await link.ask('metrics')),
    health: async () => await askHealth(link)
  }
}

/** Resolves in any case: a parent that does not report is a part that is not ready. */
async function askHealth (link: Link): Promise<HealthReport> {
  try {
    const report = await link.ask('health')
    if (isHealthReport(report)) return report
    throw new TypeError('it sent no report')
  } catch (error) {
    return { ready: false, parts: [{ name: 'parent', ready: false, reason: messageOf(error) }] }
  }
}

function toStopOrder (value: unknown): StopOrder {
  const order = typeof value === 'object' && value !== null ? value : {}
  return {
    signal: 'signal' in order ? String(order.signal) : undefined,
    timeoutMs: 'timeoutMs' in order ? Number(order.timeoutMs) : 0
  }
}

export function isHealthReport (value: unknown): value is HealthReport {
  return typeof value === 'object' && value !== null && 'ready' in value && 'parts' in value &&
    Array.isArray(value.parts)
}
