// One call: how it goes, what it asks, and its answer.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { toCurl } from '../connection/curl.ts'
import { chooseIdentity, identity } from '../connection/caller.ts'
import { consoleState } from '../connection/console-state.ts'
import { isRecord } from '../connection/json.ts'
import type { SentRequest } from '../connection/request.ts'
import { fillDraft } from '../form/drafts.ts'
import { entryByKey, select } from '../lists/catalog.ts'
import { Code, JsonCode } from '../parts/code.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { CallResult } from '../result/call-result.tsx'
import {
  isOpen, MAX_RESULT_CHARS, requiredScopesOf, type CallFailure, type CallRecord
} from './call-record.ts'
import { CallTrace } from './call-trace.tsx'
import { Questions } from './questions.tsx'
import { cancelCall, startCall } from './run-call.ts'
import { describeIdentity, StatusChip } from './status.tsx'

interface CallViewProps { readonly call: CallRecord }

export function CallView ({ call }: CallViewProps) {
  const { id, key, questions } = call
  const title = entryByKey.value.get(key)?.title ?? key
  const heading = useRef<HTMLHeadingElement>(null)
  const isAsking = questions !== undefined
  const wasAsking = useRef(isAsking)
  useEffect(() => {
    // The button that answered is gone, and the focus with it.
    if (wasAsking.current && !isAsking && document.activeElement === document.body) heading.current?.focus()
    wasAsking.current = isAsking
  }, [isAsking])
  return (
    <div class='call'>
      <div class='row head'>
        <h2 ref={heading} tabIndex={-1}>{title}</h2>
        <StatusChip call={call} />
        <span class='faint'>{describeIdentity(call)}</span>
        <span class='buttons'>
          {isOpen(call)
            ? <button type='button' onClick={() => cancelCall(id)}>Cancel</button>
            : <RepeatButtons call={call} />}
        </span>
      </div>
      {call.status === 'running' && <Progress call={call} />}
      {questions !== undefined && (
        <Questions
          key={Object.keys(questions).join()} callId={id} questions={questions} answered={call.answered}
        />
      )}
      <CallTrace call={call} />
      {call.failure !== undefined && <Failure call={call} failure={call.failure} />}
      <Answer call={call} />
    </div>
  )
}

function RepeatButtons ({ call }: CallViewProps) {
  return (
    <>
      <button type='button' onClick={() => editCall(call)}>Edit</button>
      <button type='button' onClick={() => startCall(call)}>Repeat</button>
    </>
  )
}

/** Puts the arguments of a call into the form of its primitive. */
function editCall ({ key, params }: CallRecord): void {
  if (params.arguments !== undefined) fillDraft(key, params.arguments)
  select(key)
}

function Progress ({ call: { progress } }: CallViewProps) {
  if (progress === undefined) return <progress aria-label='Progress' />
  const { progress: value, total, message } = progress
  return (
    <div class='progress'>
      {total === undefined
        ? <progress aria-label='Progress' />
        : <progress aria-label='Progress' value={value} max={total} />}
      <span>{total === undefined ? value : `${value} of ${total}`}</span>
      {message !== undefined && <span class='faint'>{message}</span>}
    </div>
  )
}

function Failure ({ call, failure }: CallViewProps & { readonly failure: CallFailure }) {
  const { code, status, message, data, scopes = [] } = failure
  const required = requiredScopesOf(failure)
  const { requestId } = isRecord(data) ? data : {}
  const { callers, caller: { subject = '' } = {} } = consoleState.value ?? {}
  const callerIdentity = call.caller.identity ?? { subject, claims: {} }
  const codes = [code !== undefined && `code ${code}`, status !== undefined && `HTTP ${status}`]
  const repeatWithScopes = () => {
    chooseIdentity({ ...callerIdentity, scopes })
    startCall(call, { ...call.caller, identity: identity.value })
  }
  return (
    <div class='failure'>
      <p class='row'>
        <strong>{message}</strong>
        <span class='faint'>{codes.filter(Boolean).join(', ')}</span>
      </p>
      {scopes.length > 0 && (
        <p class='row'>
          It needs the scopes <code>{(required ?? scopes).join(' ')}</code>
          {callers !== 'token' && (
            <button type='button' class='small' onClick={repeatWithScopes}>Call with these scopes</button>
          )}
        </p>
      )}
      {typeof requestId === 'string' && (
        <p>The terminal of <code>dev</code> has the cause, with this request id: <code>{requestId}</code></p>
      )}
      {data !== undefined && required === undefined && <JsonCode value={data} label='Data of the error' />}
    </div>
  )
}

function describeAbsence (call: CallRecord): string {
  if (isOpen(call)) return 'No answer yet.'
  if (call.isResultDropped === true) {
    return `The result was dropped: the page keeps ${MAX_RESULT_CHARS / 1e6} MB of results. Repeat the call.`
  }
  return call.status === 'complete'
    ? 'The result was too large to keep when the page was loaded again.'
    : 'No result.'
}

const VIEWS = ['Answer', 'JSON', 'Request', 'curl'] as const

/** Stays from one call to the next. */
const chosenView = signal<string>('Answer')

function Answer ({ call }: CallViewProps) {
  const { sent: request, result } = call
  const view = chosenView.value
  return (
    <Tabs
      id='answer' label='Views of the call' names={VIEWS} chosen={view}
      onChoose={(name) => { chosenView.value = name }}
    >
      {view === 'Answer' && (result === undefined
        ? <p class='faint'>{describeAbsence(call)}</p>
        : <CallResult call={call} result={result} />)}
      {view === 'JSON' && (result === undefined
        ? <p class='faint'>{describeAbsence(call)}</p>
        : <JsonCode value={result} label='Result as JSON' />)}
      {view === 'Request' && (request === undefined
        ? <p class='faint'>Nothing was sent.</p>
        : <JsonCode value={request.message} label='Request as JSON' />)}
      {view === 'curl' && (request === undefined
        ? <p class='faint'>Nothing was sent.</p>
        : <CurlCommand call={call} sent={request} />)}
    </Tabs>
  )
}

function CurlCommand ({ call, sent: request }: CallViewProps & { readonly sent: SentRequest }) {
  const lacksToken = call.caller.identity !== undefined && request.headers.authorization === undefined
  return (
    <>
      <Code text={toCurl(request)} label='The request as a curl command' />
      {lacksToken && (
        <p class='warn'>It lacks the token, which no reload keeps. Repeat the call for a new one.</p>
      )}
    </>
  )
}
