// Subscribes to a resource: its changes come as notifications.

import { toggleWatch, watchedUris } from '../connection/listening.ts'

export function WatchToggle ({ uri }: { readonly uri: string }) {
  return (
    <label class='inline'>
      <input type='checkbox' checked={watchedUris.value.includes(uri)} onChange={() => toggleWatch(uri)} />
      Tell of changes
    </label>
  )
}
