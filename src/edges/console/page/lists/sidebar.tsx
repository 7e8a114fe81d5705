// What is served, with a filter, and above it what the last load has found.

import { computed, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { consoleState, type FileProblem } from '../connection/console-state.ts'
import { toClock } from '../header.tsx'
import { memo } from '../parts/memo.ts'
import { entries, listProblem, select, selectedKey, toFragment } from './catalog.ts'
import { ENTRY_GROUPS, type ServedEntry } from './entries.ts'
import { filter, isWanted } from './filter.ts'
import { HiddenList } from './hidden-list.tsx'
import { reportOf } from './problems.ts'

/** Whether the lists are open on a narrow screen, where they hide what is selected. */
const isOpen = signal(false)

const matches = computed(() => entries.value?.filter(({ searched }) => isWanted(searched)))

const groups = computed(() => ENTRY_GROUPS.map(
  (name) => ({ name, entries: matches.value?.filter(({ group }) => group === name) ?? [] })
).filter((group) => group.entries.length > 0))

export function Sidebar () {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => { if (nav.current !== null) showSelected(nav.current) }, [selectedKey.value, entries.value])
  return (
    <nav aria-label='Catalog' class={isOpen.value ? 'sidebar is-open' : 'sidebar'} ref={nav}>
      <Failure />
      <button
        type='button' class='menu' aria-expanded={isOpen.value}
        onClick={() => { isOpen.value = !isOpen.value }}
      >
        Catalog
      </button>
      <div class='lists' onKeyDown={moveByArrow}>
        <Advice />
        <div class='filter'>
          <label for='filter' class='unseen'>Filter</label>
          <input
            id='filter' type='search' placeholder='Filter ( / )' autocomplete='off' spellcheck={false}
            value={filter.value} onInput={(event) => { filter.value = event.currentTarget.value }}
            onKeyDown={openFirst}
          />
        </div>
        {listProblem.value !== undefined && <p class='bad' role='alert'>{listProblem.value}</p>}
        {entries.value === undefined && listProblem.value === undefined && <p class='faint'>Loading…</p>}
        <div role='status' class='unseen'>
          {filter.value !== '' && `${matches.value?.length ?? 0} found`}
        </div>
        {matches.value?.length === 0 && listProblem.value === undefined && (
          <p class='faint'>{filter.value === '' ? 'Nothing is offered.' : 'Nothing fits the filter.'}</p>
        )}
        {groups.value.map(({ name, entries }) => <GroupList key={name} name={name} entries={entries} />)}
        <HiddenList />
      </div>
    </nav>
  )
}

/** Scrolls the lists to the selected entry, where they scroll by themselves. */
function showSelected (nav: HTMLElement): void {
  const link = nav.querySelector('[aria-current]')
  if (link === null || nav.scrollHeight <= nav.clientHeight) return
  const [{ top, bottom }, pane] = [link.getBoundingClientRect(), nav.getBoundingClientRect()]
  const isShown = top >= pane.top && bottom <= pane.bottom
  if (!isShown) nav.scrollTop += top - pane.top - pane.height / 3
}

/** Enter in the filter selects the first entry, and goes on to its form. */
function openFirst (event: KeyboardEvent): void {
  const [first] = groups.value[0]?.entries ?? []
  if (event.key !== 'Enter' || first === undefined) return
  event.preventDefault()
  select(first.key)
  isOpen.value = false
  const controls = 'form.run :is(.field, .bar) :is(input, textarea, select, button)'
  const toForm = () => document.querySelector<HTMLElement>(controls)?.focus()
  requestAnimationFrame(() => requestAnimationFrame(toForm))
}

const STEPS: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1 }

/** The arrow keys move from the filter to the entries, and between them. */
function moveByArrow (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = STEPS[event.key]
  if (step === undefined) return
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('#filter, .entries a')]
  const next = stops[stops.findIndex((stop) => stop === event.target) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function GroupList ({ name, entries }: { readonly name: string, readonly entries: readonly ServedEntry[] }) {
  return (
    <section aria-labelledby={`group-${name}`}>
      <h2 id={`group-${name}`}>{name} <span class='note'>{entries.length}</span></h2>
      <ul class='entries'>
        {entries.map((entry) => {
          const { problems = [], advice = [] } = reportOf(entry.key) ?? {}
          return (
            <EntryLink
              key={entry.key} fragment={toFragment(entry.key)} title={entry.title} name={entry.name}
              isSelected={entry.key === selectedKey.value} problems={problems.length} advice={advice.length}
            />
          )
        })}
      </ul>
    </section>
  )
}

interface EntryLinkProps {
  readonly fragment: string
  readonly title: string
  readonly name: string
  readonly isSelected: boolean
  readonly problems: number
  readonly advice: number
}

const EntryLink = memo(({ fragment, title, name, isSelected, problems, advice }: EntryLinkProps) => (
  <li>
    <a
      href={fragment} aria-current={isSelected ? 'true' : undefined}
      onClick={() => { isOpen.value = false }}
    >
      <span class='title'>{title}</span>
      {problems > 0 && <span class='sign bad'>✕ {problems}<span class='unseen'> problems</span></span>}
      {advice > 0 && <span class='sign warn'>! {advice}<span class='unseen'> pieces of advice</span></span>}
      {name !== title && <span class='name'>{name}</span>}
    </a>
  </li>
))

/** Also shown where the lists are closed. */
function Failure () {
  const { catalog: { failure, loadedAt = 0 } = {}, files = {} } = consoleState.value ?? {}
  if (failure === undefined) return null
  const isEmpty = Object.keys(files).length === 0
  return (
    <section class='report failed' role='alert' aria-label='The last load failed'>
      <p>
        <strong>The last load failed.</strong>{' '}
        {isEmpty
          ? 'Nothing is served until its problems are fixed.'
          : `The catalog of ${toClock(loadedAt)} is still served.`}
      </p>
      <ProblemList problems={failure.problems} />
    </section>
  )
}

function Advice () {
  const { advice = [] } = consoleState.value?.catalog ?? {}
  if (advice.length === 0) return null
  return (
    <details class='report'>
      <summary>Advice <span class='note'>{advice.length}</span></summary>
      <ProblemList problems={advice} />
    </details>
  )
}

export function ProblemList ({ problems }: { readonly problems: readonly FileProblem[] }) {
  return (
    <ul class='problems'>
      {problems.map(({ file, place, message }, index) => (
        <li key={index}>
          <span><code>{file}</code> <span class='faint'>{place}</span></span>
          <span>{message}</span>
        </li>
      ))}
    </ul>
  )
}
