// The methods that only sessions have: a new one is its own file and one line here.

import type { Method } from '../../dispatch/method.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { initialize, type InitializeDependencies } from './initialize.ts'
import { loggingSetLevel } from './logging-set-level.ts'
import { ping } from './ping.ts'
import { resourcesSubscribe } from './resources-subscribe.ts'
import { resourcesUnsubscribe } from './resources-unsubscribe.ts'

export interface LegacyMethodDependencies extends InitializeDependencies {
  readonly settings: SessionSettings
}

export function createLegacyMethods (dependencies: LegacyMethodDependencies): Method[] {
  const { settings } = dependencies
  return [
    initialize(dependencies),
    ping,
    loggingSetLevel(settings),
    resourcesSubscribe(settings),
    resourcesUnsubscribe(settings)
  ]
}
