// The notifications of the stream, the newest first.

import { listeningProblem, notices, watchedUris } from './connection/listening.ts'
import { toClock } from './header.tsx'

export function NoticeList () {
  const problem = listeningProblem.value
  return (
    <div>
      <p class='faint'>
        {problem === undefined ? 'The stream is open.' : `The stream is not open: ${problem}`}
        {watchedUris.value.length > 0 && ` It tells of changes of ${watchedUris.value.join(', ')}.`}
      </p>
      <ol class='notices'>
        {notices.value.map(({ id, at, method, params: { _meta, ...params } }) => (
          <li key={id}>
            <span class='faint'>{toClock(at)}</span>
            <span>{method}</span>
            {Object.keys(params).length > 0 && <code>{JSON.stringify(params)}</code>}
          </li>
        ))}
      </ol>
      {notices.value.length === 0 && <p class='faint'>No notifications yet.</p>}
    </div>
  )
}
