// Sends requests as they are written, over kept connections, and keeps every answer with the name of who got it.
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { Caller } from './people.ts'

const responseTimeoutMs = 20_000

export type ApiResponse = {
  readonly caller: Caller
  /** Method and path, for the message of a failure. */
  readonly asked: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a text as it is. */
  readonly body?: object | string
}

export type Client = {
  ask(caller: Caller, method: string, path: string, asked?: RequestOptions): Promise<ApiResponse>
  /** Every answer so far. */
  readonly answers: readonly ApiResponse[]
}

/** @param maxConnections as many as there may be requests under way; the others wait */
export function createClient(t: Test, baseUrl: string, maxConnections = 8): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections })
  t.teardown(() => agent.destroy())
  const { hostname, port } = new URL(baseUrl)
  const answers: ApiResponse[] = []

  return {
    answers,
    async ask(caller, method, path, { headers = {}, body } = {}) {
      const whole = caller.query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${caller.query}`
      const sent = typeof body === 'object' ? JSON.stringify(body) : (body ?? '')
      const all = {
        ...(typeof body === 'object' && { 'content-type': 'application/json' }),
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(sent)) }),
        ...caller.headers,
        ...headers,
      }
      const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>()
      const options = { hostname, port, agent, method, path: whole, headers: all, timeout: responseTimeoutMs }
      const outgoing = request(options, (incoming) => {
        const { statusCode: status = 0, rawHeaders } = incoming
        text(incoming).then(
          (read) =>
            resolve({
              caller,
              asked: `${method} ${path}`,
              status,
              headers: named(rawHeaders),
              text: read,
              json: parsed(read),
            }),
          reject,
        )
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${path}`)))
      outgoing.on('error', reject)
      outgoing.end(sent)
      const answer = await promise
      answers.push(answer)
      return answer
    },
  }
}

/** Names and values alternate in it. */
function named(rawHeaders: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : [])),
  )
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** `data` of an answer about one thing. */
export function dataOf({ asked, status, text: body, json: { data } }: ApiResponse): Readonly<Record<string, unknown>> {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data }
  throw new Error(`${asked} was answered ${status} without data: ${body}`)
}

/** `data` of an answer to a list. */
export function listOf({
  asked,
  status,
  text: body,
  json: { data },
}: ApiResponse): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(data)) return data
  throw new Error(`${asked} was answered ${status} without a list: ${body}`)
}

/** The headers of a read that is to see what these writes did. */
export function after(...writes: readonly ApiResponse[]): { readonly headers: Readonly<Record<string, string>> } {
  const positions = writes.map(({ headers }) => BigInt(headers['x-event-position'] ?? 0))
  const last = positions.sort((a, b) => Number(b - a))[0]
  return { headers: { 'x-read-after': String(last ?? 0n) } }
}
