// A collector of OpenTelemetry: receives OTLP over HTTP in protobuf, and keeps the spans.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Pbf from 'pbf'
import type { Test } from 'tap'
import { until } from '../helpers/deadline.ts'

type Attributes = { [name: string]: unknown }

export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty for a root. */
  parentSpanId: string
  traceState: string
  name: string
  /** 1 is internal, 2 a server, 3 a client. */
  kind: number
  attributes: Attributes
  events: string[]
  links: Array<{ traceId: string, spanId: string }>
  /** 2 is an error. */
  status: { code: number, message: string }
  /** The name of the tracer. */
  scope: string
  resource: Attributes
}

export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Every body so far. */
  readonly bytes: () => Buffer
  /** The URLs that were asked for. */
  readonly paths: Set<string>
  /** The status that the next exports get. `hang`: none at all. */
  answer: number | 'hang'
  /** Resolves to the first span that fits. */
  find (fits: Partial<ReceivedSpan>): Promise<ReceivedSpan>
  /** The spans whose parent it is. */
  below (span: ReceivedSpan): ReceivedSpan[]
}

export async function startOtlpReceiver (t: Test, port = 0): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const paths = new Set<string>()
  const server = createServer((request, response) => {
    buffer(request).then((body) => {
      paths.add(request.url ?? '')
      if (receiver.answer === 'hang') return
      if (receiver.answer === 200) {
        bodies.push(body)
        spans.push(...readExport(body))
      }
      response.writeHead(receiver.answer, { 'content-type': 'application/x-protobuf' }).end()
    }, () => {})
  })
  await new Promise<void>((resolve) => { server.listen(port, '127.0.0.1', resolve) })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    paths,
    answer: 200,
    async find (fits) {
      const wanted = Object.entries(fits)
      const isWanted = (span: ReceivedSpan) => {
        const facts = new Map<string, unknown>(Object.entries(span))
        return wanted.every(([key, value]) => facts.get(key) === value)
      }
      await until(() => spans.some(isWanted), `the span ${JSON.stringify(fits)}`, 15_000)
      return spans.find(isWanted) as ReceivedSpan
    },
    below: ({ spanId }) => spans.filter(({ parentSpanId }) => parentSpanId === spanId)
  }
  return receiver
}

const hex = (reader: Pbf) => Buffer.from(reader.readBytes()).toString('hex')

/** Reads a message whose fields are messages or values. */
function read<T> (reader: Pbf, made: T, fields: { [tag: number]: (made: T) => void }): T {
  return reader.readMessage((tag, result: T) => fields[tag]?.(result), made)
}

function readExport (body: Buffer): ReceivedSpan[] {
  const reader = new Pbf(Uint8Array.from(body))
  const spans: ReceivedSpan[] = []
  reader.readFields((tag) => { if (tag === 1) spans.push(...readResourceSpans(reader)) }, {})
  return spans
}

function readResourceSpans (reader: Pbf): ReceivedSpan[] {
  const resource: Attributes = {}
  const spans: ReceivedSpan[] = []
  read(reader, {}, {
    1: () => read(reader, resource, { 1: (made) => readAttribute(reader, made) }),
    2: () => spans.push(...readScopeSpans(reader))
  })
  return spans.map((span) => ({ ...span, resource }))
}

function readScopeSpans (reader: Pbf): ReceivedSpan[] {
  const scope = { name: '' }
  const spans: ReceivedSpan[] = []
  read(reader, {}, {
    1: () => read(reader, scope, { 1: (made) => { made.name = reader.readString() } }),
    2: () => spans.push(readSpan(reader))
  })
  return spans.map((span) => ({ ...span, scope: scope.name }))
}

function readSpan (reader: Pbf): ReceivedSpan {
  return read(reader, {
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    name: '',
    kind: 0,
    attributes: {},
    events: [],
    links: [],
    status: { code: 0, message: '' },
    scope: '',
    resource: {}
  } as ReceivedSpan, {
    1: (span) => { span.traceId = hex(reader) },
    2: (span) => { span.spanId = hex(reader) },
    3: (span) => { span.traceState = reader.readString() },
    4: (span) => { span.parentSpanId = hex(reader) },
    5: (span) => { span.name = reader.readString() },
    6: (span) => { span.kind = reader.readVarint() },
    9: (span) => readAttribute(reader, span.attributes),
    11: (span) => {
      read(reader, {}, { 2: () => span.events.push(reader.readString()) })
    },
    13: (span) => {
      span.links.push(read(reader, { traceId: '', spanId: '' }, {
        1: (link) => { link.traceId = hex(reader) }, 2: (link) => { link.spanId = hex(reader) }
      }))
    },
    15: (span) => {
      read(reader, span.status, {
        2: (status) => { status.message = reader.readString() },
        3: (status) => { status.code = reader.readVarint() }
      })
    }
  })
}

function readAttribute (reader: Pbf, attributes: Attributes): void {
  const { key, value } = read(reader, { key: '', value: undefined as unknown }, {
    1: (made) => { made.key = reader.readString() },
    2: (made) => {
      const { any } = read(reader, { any: undefined as unknown }, {
        1: (one) => { one.any = reader.readString() },
        2: (one) => { one.any = reader.readBoolean() },
        3: (one) => { one.any = reader.readVarint(true) },
        4: (one) => { one.any = reader.readDouble() }
      })
      made.value = any
    }
  })
  attributes[key] = value
}
