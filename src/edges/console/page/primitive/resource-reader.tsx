// Reads a resource.

import type { Resource } from '../../../../platform/protocol/primitives.ts'
import { startCall } from '../calls/run-call.ts'
import { RunForm } from './run-bar.tsx'
import { WatchToggle } from './watch-toggle.tsx'

interface ResourceReaderProps {
  readonly entryKey: string
  readonly title: string
  readonly resource: Resource
}

export function ResourceReader ({ entryKey, title, resource: { uri } }: ResourceReaderProps) {
  const run = () => startCall({ key: entryKey, method: 'resources/read', params: { uri } })
  return (
    <RunForm title={title} action='Read' onRun={run}>
      <WatchToggle uri={uri} />
    </RunForm>
  )
}
