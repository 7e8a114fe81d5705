// The model of the progress that the client of one request is told.

import type { ModelWorld, Process } from '../world.ts'

/** Checks that the progress of a request grows, and that its handler does not go back. */
export function createProgressCheck (world: ModelWorld, process: Process): (json: string) => void {
  let before = { progress: -Infinity, at: -1 }
  return (json) => {
    const { method, params }: { method: string, params: any } = JSON.parse(json)
    if (method !== 'notifications/progress' || process.isDead) return
    const [, place] = /^progress-(\d+)$/.exec(String(params.message)) ?? []
    const now = { progress: Number(params.progress), at: Number(place ?? before.at) }
    if (now.progress <= before.progress || now.at < before.at) {
      world.fail(`a request was told ${JSON.stringify(now)} after ${JSON.stringify(before)}`)
    }
    before = now
  }
}
