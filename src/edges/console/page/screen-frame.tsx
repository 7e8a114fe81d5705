// The screen of a tool, beside its text result. What the screen says to its host is shown below it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { callOf, calls, type CallRecord } from './calls/call-record.ts'
import { Questions } from './calls/questions.tsx'
import { runScreenCall } from './calls/run-call.ts'
import type { PageCaller } from './connection/caller.ts'
import { consoleState } from './connection/console-state.ts'
import { describeFailure, isRecord, type JsonObject } from './connection/json.ts'
import { request, RequestFailure } from './connection/request.ts'
import { entryByKey } from './lists/catalog.ts'
import { openScreen } from './screen/open-screen.ts'

interface ScreenFrameProps {
  readonly call: CallRecord
  readonly result: JsonObject
  readonly uri: string
}

const DARK = matchMedia('(prefers-color-scheme: dark)')

const toTheme = () => DARK.matches ? 'dark' : 'light'

export function ScreenFrame ({ call, result, uri }: ScreenFrameProps) {
  const parent = useRef<HTMLDivElement>(null)
  const [problem, setProblem] = useState('')
  const [lines, setLines] = useState<readonly string[]>([])
  const [link, setLink] = useState<string | undefined>(undefined)
  const [ownCalls, setOwnCalls] = useState<readonly number[]>([])
  const say = (line: string) => setLines((before) => [...before, line].slice(-MAX_LINES))
  const [json, setJson] = useState<string | undefined>(undefined)
  /** The end of the screen before. */
  const closed = useRef(Promise.resolve())
  const loadedAt = consoleState.value?.catalog.loadedAt

  // The author may have saved the screen: it is opened anew if it is another one.
  useEffect(() => {
    readScreen(uri, call.caller).then(
      (screen) => setJson(JSON.stringify(screen)), (error: unknown) => setProblem(describeFailure(error))
    )
  }, [call.id, uri, loadedAt])

  useEffect(() => {
    if (json === undefined) return
    setProblem('')
    const over = new AbortController()
    const opening = closed.current.then(async () => await open(JSON.parse(json)))
    opening.catch((error: unknown) => { if (!over.signal.aborted) setProblem(describeFailure(error)) })
    const follow = () => { opening.then((screen) => screen.setTheme(toTheme()), () => {}) }
    DARK.addEventListener('change', follow)
    return () => {
      DARK.removeEventListener('change', follow)
      over.abort()
      closed.current = opening.then(async (screen) => await screen.close(), () => {})
    }

    async function open (resource: ServedScreen) {
      const sandboxUrl = toSandboxUrl()
      const primitive = entryByKey.value.get(call.key)?.primitive
      if (sandboxUrl === undefined) throw new Error(NEEDED_ADDRESS)
      if (parent.current === null || primitive?.kind !== 'tool') throw new Error('The tool is not offered.')
      return await openScreen(parent.current, {
        sandboxUrl,
        sandboxKey: consoleState.value?.sandboxKey ?? '',
        resource,
        tool: primitive.tool,
        arguments: isRecord(call.params.arguments) ? call.params.arguments : {},
        result,
        theme: toTheme(),
        signal: over.signal,
        request: async (method, params) => await sendForScreen(method, { ...params }),
        onContext: (text) => say(`The model would learn: ${text}`),
        onMessage: (text) => say(`The screen writes to the chat: ${text}`),
        onLink: setLink,
        onLog: (level, text) => say(`${level}: ${text}`)
      })
    }

    /** A tool that a screen calls may ask: the questions are shown below the screen. */
    async function sendForScreen (method: string, params: JsonObject): Promise<object> {
      if (method !== 'tools/call') return await request<JsonObject>(method, params, { caller: call.caller })
      const key = `tool:${String(params.name)}`
      const ended = await runScreenCall(
        { key, method, params },
        call.caller,
        (id) => setOwnCalls((before) => [...before.filter((call) => callOf(call) !== undefined), id])
      )
      if (ended?.result !== undefined) return ended.result
      const { message = 'The call was cancelled.', code = -32603, data, status = 0 } = ended?.failure ?? {}
      throw new RequestFailure(message, status, { code, data })
    }
  }, [call.id, json])

  return (
    <div class='screen'>
      <div ref={parent} />
      {problem !== '' && <p class='bad'>The screen cannot be shown. {problem}</p>}
      {calls.value.filter(({ id, questions }) => ownCalls.includes(id) && questions !== undefined).map(
        ({ id, questions = {}, answered }) => (
          <Questions key={id} callId={id} questions={questions} answered={answered} />
        )
      )}
      {link !== undefined && (
        <p class='row'>
          The screen wants to open <code>{link}</code>
          <a href={link} target='_blank' rel='noopener noreferrer' onClick={() => setLink(undefined)}>Open</a>
          <button type='button' class='small' onClick={() => setLink(undefined)}>Refuse</button>
        </p>
      )}
      {lines.length > 0 && (
        <ul class='log' aria-label='What the screen says'>
          {lines.map((line, at) => <li key={at}>{line}</li>)}
        </ul>
      )}
    </div>
  )
}

const MAX_LINES = 50

const NEEDED_ADDRESS = 'Screens need the console at http://127.0.0.1 or http://localhost.'

type ServedScreen = Awaited<ReturnType<typeof readScreen>>

async function readScreen (uri: string, caller: PageCaller) {
  const { contents: [contents] } = await request<{ readonly contents: readonly unknown[] }>(
    'resources/read', { uri }, { caller }
  )
  if (!isRecord(contents) || typeof contents.text !== 'string') throw new Error('The screen has no text.')
  const ui = isRecord(contents._meta) && isRecord(contents._meta.ui) ? contents._meta.ui : {}
  const { csp, permissions, prefersBorder } = ui
  return {
    text: contents.text,
    meta: {
      ...isRecord(csp) && { csp },
      ...isRecord(permissions) && { permissions },
      ...typeof prefersBorder === 'boolean' && { prefersBorder }
    }
  }
}

/** The sandbox is on the other name of this machine: another origin. */
function toSandboxUrl (): string | undefined {
  const { hostname, port, protocol } = location
  if (hostname !== 'localhost' && hostname !== '127.0.0.1') return undefined
  const sandboxHost = hostname === 'localhost' ? '127.0.0.1' : 'localhost'
  return `${protocol}//${sandboxHost}:${port}/console/sandbox`
}
