// Every method that a session has: its own, and those that it shares with the current revision.

import type { Method } from '../../dispatch/method.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { loggingSetLevel } from './logging-set-level.ts'
import { ping } from './ping.ts'
import { resourcesSubscribe } from './resources-subscribe.ts'
import { resourcesUnsubscribe } from './resources-unsubscribe.ts'

const SHARED = new Set([
  'tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'resources/list', 'resources/templates/list', 'resources/read', 'completion/complete'
])

/** @param methods those of the current revision. */
export function createLegacyMethods (methods: readonly Method[], settings: SessionSettings): Method[] {
  return [
    ping(),
    loggingSetLevel(settings),
    resourcesSubscribe(settings),
    resourcesUnsubscribe(settings),
    ...methods.filter(({ name }) => SHARED.has(name))
  ]
}
