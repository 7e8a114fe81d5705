// Beside the form: the call that is shown, the last calls, notifications, and how to connect other clients.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { notices } from '../connection/listening.ts'
import { ConnectPanel } from '../connect-panel.tsx'
import { NoticeList } from '../notice-list.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { calls, shownCall, shownCallId, type CallRecord } from './call-record.ts'
import { CallList } from './call-list.tsx'
import { CallView } from './call-view.tsx'
import { describeStatus } from './status.tsx'

const TABS = ['Call', 'Last calls', 'Notifications', 'Connect'] as const

const tab = signal<string>('Call')

const NARROW = matchMedia('(max-width: 56rem)')

export function Activity () {
  const call = shownCall.value
  const section = useRef<HTMLElement>(null)
  const lastId = useRef(call?.id)
  useEffect(() => {
    if (call?.id === lastId.current) return
    lastId.current = call?.id
    tab.value = 'Call'
    // Where the calls stand below the form, a new call would begin out of sight.
    if (NARROW.matches) section.current?.scrollIntoView()
  }, [call?.id])
  return (
    <section class='activity' aria-label='Calls' ref={section}>
      <p role='status' class='unseen'>{call !== undefined && announce(call)}</p>
      <Tabs
        id='activity' label='Calls' names={TABS} chosen={tab.value} onChoose={(name) => { tab.value = name }}
        notes={{ 'Last calls': String(calls.value.length), Notifications: String(notices.value.length) }}
      >
        {tab.value === 'Call' && (call === undefined ? <NoCall /> : <CallView key={call.id} call={call} />)}
        {tab.value === 'Last calls' && <CallList onShow={showCall} />}
        {tab.value === 'Notifications' && <NoticeList />}
        {tab.value === 'Connect' && <ConnectPanel />}
      </Tabs>
    </section>
  )
}

function NoCall () {
  return <p class='faint empty'>The answer of a call appears here.</p>
}

function showCall (id: number): void {
  shownCallId.value = id
  tab.value = 'Call'
}

/** What a screen reader says. */
function announce (call: CallRecord): string {
  return `${call.key.slice(call.key.indexOf(':') + 1)}: ${describeStatus(call)}`
}
