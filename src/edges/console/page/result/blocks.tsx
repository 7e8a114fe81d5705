// The parts of a result: texts, pictures, sounds, links to resources, and resources.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock

import { useState } from 'preact/hooks'
import type { PageCaller } from '../connection/caller.ts'
import { describeFailure, isRecord, parseTyped, toPretty, type JsonObject } from '../connection/json.ts'
import { request } from '../connection/request.ts'
import { Code, JsonCode } from '../parts/code.tsx'

interface BlockProps { readonly block: JsonObject, readonly caller: PageCaller }

export function Block ({ block, caller }: BlockProps) {
  switch (block.type) {
    case 'text': return <Code text={String(block.text)} label='Text' isProse />
    case 'image': return <Picture data={block.data} mimeType={block.mimeType} />
    case 'audio': return <Sound data={block.data} mimeType={block.mimeType} />
    case 'resource_link': return <LinkedResource link={block} caller={caller} />
    case 'resource': return isRecord(block.resource) ? <ResourceContent contents={block.resource} /> : null
    default: return <JsonCode value={block} label='Content of an unknown type' />
  }
}

interface MediaProps { readonly data: unknown, readonly mimeType: unknown }

function toDataUrl ({ data, mimeType }: MediaProps): string {
  return `data:${String(mimeType)};base64,${String(data)}`
}

function Picture (media: MediaProps) {
  return (
    <figure>
      <img src={toDataUrl(media)} alt={`Picture, ${String(media.mimeType)}`} />
    </figure>
  )
}

function Sound (media: MediaProps) {
  return <audio controls src={toDataUrl(media)} aria-label={`Sound, ${String(media.mimeType)}`} />
}

/** A link is read as the caller of the call that returned it. */
function LinkedResource ({ link, caller }: { readonly link: JsonObject, readonly caller: PageCaller }) {
  const [contents, setContents] = useState<readonly JsonObject[]>([])
  const [problem, setProblem] = useState('')
  const uri = String(link.uri)
  const read = async () => {
    try {
      const result = await request<JsonObject>('resources/read', { uri }, { caller })
      setContents(Array.isArray(result.contents) ? result.contents.filter(isRecord) : [])
      setProblem('')
    } catch (error) {
      setProblem(describeFailure(error))
    }
  }
  return (
    <div class='resource'>
      <p class='row'>
        <strong>{String(link.title ?? link.name)}</strong>
        <Address uri={uri} />
        {typeof link.mimeType === 'string' && <span class='badge'>{link.mimeType}</span>}
        {typeof link.size === 'number' && <span class='badge'>{link.size.toLocaleString('en')} bytes</span>}
        <button type='button' class='small' onClick={read}>Read<span class='unseen'> {uri}</span></button>
      </p>
      {typeof link.description === 'string' && <p class='faint'>{link.description}</p>}
      {problem !== '' && <p class='bad'>{problem}</p>}
      {contents.map((part, index) => <ResourceContent key={index} contents={part} />)}
    </div>
  )
}

function Address ({ uri }: { readonly uri: string }) {
  return /^https?:\/\//i.test(uri)
    ? <a href={uri} target='_blank' rel='noopener noreferrer'><code>{uri}</code></a>
    : <code>{uri}</code>
}

/** The contents of a resource: a text, or bytes. */
export function ResourceContent ({ contents }: { readonly contents: JsonObject }) {
  const { uri, mimeType = '', text, blob } = contents
  const type = String(mimeType)
  return (
    <div class='resource'>
      <p class='row'><code>{String(uri)}</code>{type !== '' && <span class='badge'>{type}</span>}</p>
      {typeof text === 'string' && (
        <Code text={toReadable(text, type)} label={String(uri)} isProse={!/json|xml/.test(type)} />
      )}
      {typeof blob === 'string' && <Bytes blob={blob} type={type} uri={String(uri)} />}
    </div>
  )
}

/** Indents JSON that is on one line. */
function toReadable (text: string, type: string): string {
  if (!type.includes('json') || text.includes('\n')) return text
  const parsed = parseTyped(text)
  return 'value' in parsed ? toPretty(parsed.value) : text
}

function Bytes ({ blob, type, uri }: { readonly blob: string, readonly type: string, readonly uri: string }) {
  if (type.startsWith('image/')) return <Picture data={blob} mimeType={type} />
  if (type.startsWith('audio/')) return <Sound data={blob} mimeType={type} />
  const size = Math.floor(blob.length * 3 / 4)
  return (
    <p class='row'>
      <span>{size.toLocaleString('en')} bytes</span>
      <button type='button' class='small' onClick={() => save(blob, type, uri)}>Save</button>
    </p>
  )
}

function save (blob: string, type: string, uri: string): void {
  const bytes = Uint8Array.from(atob(blob), (character) => character.charCodeAt(0))
  const href = URL.createObjectURL(new Blob([bytes], { type }))
  const link = Object.assign(document.createElement('a'), { href, download: uri.split('/').at(-1) ?? 'file' })
  link.click()
  URL.revokeObjectURL(href)
}
