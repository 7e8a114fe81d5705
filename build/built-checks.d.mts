import type { OWN_FORMATS, SCOPE, createInstances } from '../src/platform/schema/ajv-instances.ts'
import type { withCosts } from '../src/platform/schema/check-cost.ts'

interface Sources {
  createInstances: typeof createInstances
  OWN_FORMATS: typeof OWN_FORMATS
  SCOPE: typeof SCOPE
  withCosts: typeof withCosts
}

export function writeChecks (formats: Iterable<string>, sources: Sources): Promise<string>
