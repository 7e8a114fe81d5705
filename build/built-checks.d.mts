import type { OWN_FORMATS, createInstances } from '../src/platform/schema/ajv-instances.ts'
import type { withCosts } from '../src/platform/schema/check-cost.ts'

interface Sources {
  createInstances: typeof createInstances
  OWN_FORMATS: typeof OWN_FORMATS
  withCosts: typeof withCosts
}

export function writeChecks (formats: Iterable<string>, sources: Sources): Promise<string>
