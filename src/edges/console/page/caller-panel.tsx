// Chooses who the page calls as, and what its host can do.

import { useState } from 'preact/hooks'
import {
  abilities, bearerToken, chooseAbilities, chooseIdentity, identity, type Abilities
} from './connection/caller.ts'
import type { ConsoleState } from './connection/console-state.ts'
import { isRecord, parseTyped, toPretty } from './connection/json.ts'

interface CallerPanelProps { readonly state: ConsoleState }

export function CallerPanel ({ state }: CallerPanelProps) {
  return (
    <details class='caller' onKeyDown={closeByEscape}>
      <summary>Called as <strong>{describeCaller(state)}</strong></summary>
      <div class='panel'>
        {state.callers === 'desk' && (
          <p class='about'>
            The service checks tokens. This caller gets one from the desk of <code>dev</code>. It counts for
            this process alone: <code>serve</code> refuses it. An access token that you give comes first.
          </p>
        )}
        {state.callers !== 'token' && <IdentityForm state={state} key={JSON.stringify(identity.value)} />}
        {state.callers !== 'picked' && <TokenField />}
        <AbilityToggles />
      </div>
    </details>
  )
}

function closeByEscape (event: KeyboardEvent): void {
  if (event.key === 'Escape') close(event.target)
}

function close (within: EventTarget | null): void {
  const panel = within instanceof Element ? within.closest('details') : null
  if (panel === null) return
  panel.open = false
  panel.querySelector('summary')?.focus()
}

function describeCaller ({ callers, caller }: ConsoleState): string {
  if (bearerToken.value !== '') return 'the holder of the token'
  if (callers === 'token') return 'nobody, no token'
  const { subject, scopes } = identity.value ?? caller
  const name = subject === undefined || subject === '' ? 'nobody' : subject
  return scopes.length === 0 ? `${name}, no scopes` : `${name}, ${scopes.join(' ')}`
}

function IdentityForm ({ state }: CallerPanelProps) {
  const current = identity.value ?? { ...state.caller, claims: {} }
  const [subject, setSubject] = useState(current.subject ?? '')
  const [scopes, setScopes] = useState(current.scopes.join(' '))
  const hasClaims = Object.keys(current.claims).length > 0
  const [claims, setClaims] = useState(() => hasClaims ? toPretty(current.claims) : '')
  const parsed = claims.trim() === '' ? { value: {} } : parseTyped(claims)
  const problem = 'problem' in parsed ? parsed.problem : isRecord(parsed.value) ? '' : 'Claims are an object.'
  const names = scopes.split(/\s+/).filter((name) => name !== '')
  const toggle = (scope: string) => {
    setScopes((names.includes(scope) ? names.filter((name) => name !== scope) : [...names, scope]).join(' '))
  }
  const apply = (event: Event) => {
    event.preventDefault()
    if (problem !== '' || !('value' in parsed) || !isRecord(parsed.value)) return
    close(event.target)
    chooseIdentity({ subject: subject.trim(), scopes: names, claims: parsed.value })
  }
  return (
    <form onSubmit={apply} aria-label='Caller'>
      <div class='field'>
        <label for='caller-subject'>Subject</label>
        <input
          id='caller-subject' value={subject} autocomplete='off' spellcheck={false}
          onInput={(event) => setSubject(event.currentTarget.value)}
        />
      </div>
      <div class='field'>
        <label for='caller-scopes'>Scopes</label>
        <input
          id='caller-scopes' value={scopes} autocomplete='off' spellcheck={false}
          onInput={(event) => setScopes(event.currentTarget.value)}
        />
        <div class='checkboxes'>
          {state.scopes.map((scope) => (
            <label key={scope} class='inline'>
              <input type='checkbox' checked={names.includes(scope)} onChange={() => toggle(scope)} />
              {scope}
            </label>
          ))}
        </div>
      </div>
      <div class='field'>
        <label for='caller-claims'>Claims <span class='faint'>(JSON)</span></label>
        <textarea
          id='caller-claims' class='code' rows={2} spellcheck={false} value={claims} placeholder='{}'
          aria-invalid={problem !== ''} onInput={(event) => setClaims(event.currentTarget.value)}
        />
        {problem !== '' && <span class='bad'>{problem}</span>}
      </div>
      <div class='row'>
        <button type='submit' class='primary'>Call as this caller</button>
        {identity.value !== undefined && (
          <button type='button' onClick={() => chooseIdentity(undefined)}>
            {state.callers === 'desk' ? `Call as ${state.caller.subject}` : 'Call without a token'}
          </button>
        )}
      </div>
    </form>
  )
}

/** The service checks tokens of an issuer: the page cannot make one. */
function TokenField () {
  return (
    <div class='field'>
      <label for='caller-token'>Access token</label>
      <input
        id='caller-token' type='password' autocomplete='off' value={bearerToken.value}
        onChange={(event) => { bearerToken.value = event.currentTarget.value.trim() }}
      />
      <div class='about'>The page forgets the token when it is closed.</div>
    </div>
  )
}

const ABILITIES: ReadonlyArray<readonly [keyof Abilities, string, string]> = [
  ['tasks', 'Tasks', 'A long call may go on as a task.'],
  ['elicitation', 'Questions', 'A tool may ask you while it runs.'],
  ['screens', 'Screens', 'The page shows the screens of tools.'],
  ['sampling', 'Sampling', 'A tool may ask the model. You answer for it.'],
  ['roots', 'Roots', 'A tool may ask for your folders.']
]

function AbilityToggles () {
  return (
    <div class='field group' role='group' aria-labelledby='abilities'>
      <span id='abilities'>This host has</span>
      {ABILITIES.map(([name, label, text]) => (
        <label key={name} class='inline'>
          <input
            type='checkbox' checked={abilities.value[name]}
            onChange={(event) => chooseAbilities({ [name]: event.currentTarget.checked })}
          />
          <span class='name'>{label}</span> <span class='faint'>{text}</span>
        </label>
      ))}
    </div>
  )
}
