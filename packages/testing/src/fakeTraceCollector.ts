// A trace collector for tests: receives OTLP over HTTP as JSON.
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { listen } from './fakeServer.ts'

type OtlpValue = { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean }
type OtlpAttribute = { readonly key: string; readonly value: OtlpValue }
type OtlpSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: readonly OtlpAttribute[]
  readonly status: { readonly code?: number }
}
type OtlpRequest = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

export type CollectedSpan = {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Absent for the first span of a trace. */
  readonly parentSpanId: string | undefined
  /** 2: server, 3: client. */
  readonly kind: number
  readonly isFailed: boolean
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>
}

export type FakeTraceCollector = {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  /** The raw requests. */
  readonly requests: readonly {
    readonly url: string
    readonly headers: NodeJS.Dict<string | string[]>
    readonly body: string
  }[]
}

/** @param respond writes the response; gets the request's index, from 0. Default: 200 */
export async function startFakeTraceCollector(
  t: Test,
  respond: (response: ServerResponse, index: number) => void = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
): Promise<FakeTraceCollector> {
  const spans: CollectedSpan[] = []
  const requests: FakeTraceCollector['requests'][number][] = []
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { url = '', headers } = request
        requests.push({ url, headers, body })
        respond(response, requests.length - 1)
        if (response.statusCode === 200) spans.push(...spansIn(JSON.parse(body) as OtlpRequest))
      },
      () => response.destroy(),
    )
  })
  return { endpoint: await listen(t, server), spans, requests }
}

function spansIn({ resourceSpans }: OtlpRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesIn(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(service, span)))
  })
}

function collected(service: string, span: OtlpSpan): CollectedSpan {
  const { name, traceId, spanId, parentSpanId, kind, status, attributes } = span
  const isFailed = status.code === 2
  return { service, name, traceId, spanId, parentSpanId, kind, isFailed, attributes: attributesIn(attributes) }
}

function attributesIn(attributes: readonly OtlpAttribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? (value.intValue === undefined ? undefined : Number(value.intValue)),
    ]),
  )
}
