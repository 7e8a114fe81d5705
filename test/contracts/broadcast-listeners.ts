// Listeners that record what a broadcast tells them, and what tests send to them.

import type { Broadcast, ReplicaMessage } from '../../src/platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../src/platform/store/changes/change-event.ts'

export function hearEvents (broadcast: Broadcast): ChangeEvent[] {
  const heard: ChangeEvent[] = []
  broadcast.subscribe((event) => { heard.push(event) })
  return heard
}

export function hearMessages (broadcast: Broadcast) {
  const heard: ReplicaMessage[] = []
  let missed = 0
  broadcast.listen((message) => { heard.push(message) }, () => { missed++ })
  return { heard, missed: () => missed }
}

export const isMissed = ({ type }: ChangeEvent) => type === 'events-missed'
export const isUpdate = ({ type }: ChangeEvent) => type === 'resource-updated'
export const updated = (index: number): ChangeEvent => ({ type: 'resource-updated', uri: `a://${index}` })
export const numbered = (number: number): ReplicaMessage => ({ type: 'test-numbered', number })
