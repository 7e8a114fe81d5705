// The last calls. One click repeats a call.

import { cut } from '../../../../base/text.ts'
import { toClock } from '../header.tsx'
import { entryByKey } from '../lists/catalog.ts'
import { memo } from '../parts/memo.ts'
import { calls, forgetCalls, isOpen, type CallRecord } from './call-record.ts'
import { startCall } from './run-call.ts'
import { describeIdentity, StatusChip } from './status.tsx'

interface CallListProps { readonly onShow: (id: number) => void }

export function CallList ({ onShow }: CallListProps) {
  if (calls.value.length === 0) return <p class='faint empty'>No calls yet.</p>
  return (
    <div>
      <ul class='calls'>
        {calls.value.map((call) => (
          <CallRow
            key={call.id} call={call} title={entryByKey.value.get(call.key)?.title ?? call.key}
            onShow={onShow}
          />
        ))}
      </ul>
      <button type='button' class='small' onClick={forgetCalls}>Forget them</button>
    </div>
  )
}

interface CallRowProps extends CallListProps { readonly call: CallRecord, readonly title: string }

const CallRow = memo(({ call, title, onShow }: CallRowProps) => {
  const repeat = () => onShow(startCall(call))
  return (
    <li>
      <button type='button' class='open' onClick={() => onShow(call.id)}>
        <span class='title'>{title}</span>
        <StatusChip call={call} />
        <span class='faint'>{toClock(call.startedAt)} {describeIdentity(call)}</span>
        <code>{toPreview(call)}</code>
      </button>
      <button type='button' class='small' disabled={isOpen(call)} onClick={repeat}>
        Repeat<span class='unseen'> {title}</span>
      </button>
    </li>
  )
})

const MAX_PREVIEW = 120

function toPreview ({ params }: CallRecord): string {
  return cut(JSON.stringify(params.arguments ?? params.uri ?? {}), MAX_PREVIEW)
}
