// The methods that exist only in the legacy era. To add a method, write its file and add one line here.

import type { Method } from '../../request/pipeline/method.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import { initialize, type InitializeOptions } from './initialize.ts'
import { loggingSetLevel } from './logging-set-level.ts'
import { ping } from './ping.ts'
import { resourcesSubscribe } from './resources-subscribe.ts'
import { resourcesUnsubscribe } from './resources-unsubscribe.ts'

interface LegacyMethodDependencies extends InitializeOptions {
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
