// Sends the requests of clients, repeats them as a careful client does, and records what came back.

import { setTimeout as pause } from 'node:timers/promises'
import { anySignal } from '@paylog/runtime/anySignal'
import type { Answer, Intrusion, Operation, Owner, ReadAfterWrite, Sighting } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import { credentials, ownersIn } from './owners.ts'
import { impatientShare } from './settings.ts'

const requestTimeoutMs = 20_000
const firstPauseMs = 200
const longestPauseMs = 3_000
const readTries = 3

export type Request = { readonly method: 'POST' | 'PUT' | 'DELETE'; readonly path: string; readonly body?: object }

/** A resource in a response. */
export type Resource = {
  readonly id: string
  readonly status: string
  readonly client_secret: string | null
  readonly provider_intent_id: string | null
  readonly amount_capturable_cents: number
  readonly amount_received_cents: number
}
export type Success = { readonly data: Resource; readonly position: string | null }

export type Client = {
  readonly operations: readonly Operation[]
  readonly reads: readonly ReadAfterWrite[]
  readonly intrusions: readonly Intrusion[]
  readonly sightings: readonly Sighting[]
  /** Records a new operation. */
  operation(operation: Omit<Operation, 'answers' | 'gave_up'>): Operation
  /** Sends a request until it has a final answer. @returns the success */
  perform(operation: Operation, request: Request): Promise<Success | undefined>
  /** A GET. @returns its resource, if it was found */
  read(owner: Owner, path: string): Promise<Resource | undefined>
  /**
   * Reads what a write has changed, and records whether the response shows it.
   * @param expected a text that has to be there; `null`: the resource has to be gone
   */
  readAfter(owner: Owner, path: string, written: { position: string; expected: string | null }): Promise<void>
  /** Tries what has to fail. */
  intrude(owner: Owner, request: AnyRequest): Promise<void>
  /** Operations and reads under way. */
  busy(): number
  /** The replies since the last call. */
  takeReplies(): Reply[]
}

/** A write that was accepted, or a request that the system could not serve. */
export type Reply = {
  readonly request: string
  /** By `performance.now()`. */
  readonly sentAt: number
  readonly receivedAt: number
  /** `null`: none arrived in all the time that a client waits. */
  readonly status: number | null
  readonly code: string | null
  readonly has_retry_after: boolean
  /** A provider may have taken its time. */
  readonly calls_provider: boolean
}

type AnyRequest = Omit<Request, 'method'> & { readonly method: string }
type Response = { readonly status: number; readonly text: string; readonly headers: Headers }
type SendOptions = {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly callsProvider?: boolean
}

type ClientOptions = {
  /** May be filled later. */
  readonly urls: { command: readonly string[]; query: string }
  readonly random: Random
  /** Whether clients stop repeating requests. */
  readonly hasToEnd: () => boolean
  /** Ends all requests. */
  readonly over: AbortSignal
}

function createTransport({ urls, random, over }: ClientOptions) {
  const sightings = new Map<string, Sighting>()

  function sight(caller: Owner, request: string, text: string): void {
    for (const owner of ownersIn(text)) {
      const sighting = sightings.get(`${caller} ${owner}`) ?? { caller, owner, request, times: 0 }
      sighting.times++
      sightings.set(`${caller} ${owner}`, sighting)
    }
  }

  let replies: Reply[] = []
  /** Keeps the reply if it is one that counts. */
  async function timed(
    { request, isPatient, calls_provider }: { request: string; isPatient: boolean; calls_provider: boolean },
    send: () => Promise<Response>,
  ): Promise<Response> {
    const sentAt = performance.now()
    const keep = (reply: Pick<Reply, 'status' | 'code' | 'has_retry_after'>) =>
      void replies.push({ request, calls_provider, sentAt, receivedAt: performance.now(), ...reply })
    try {
      const response = await send()
      const { status, text, headers } = response
      const isWritten = status < 300 && headers.has('x-event-position') && !request.startsWith('GET')
      if (isWritten || status === 503)
        keep({ status, code: bodyOf(text).error?.code ?? null, has_retry_after: headers.has('retry-after') })
      return response
    } catch (error) {
      if (isPatient && lossOf(error) === 'client lost patience')
        keep({ status: null, code: null, has_retry_after: false })
      throw error
    }
  }

  return {
    sightings,
    takeReplies() {
      const taken = replies
      replies = []
      return taken
    },
    async send(owner: Owner, { method, path, body }: AnyRequest, options: SendOptions = {}): Promise<Response> {
      const { headers, timeoutMs = requestTimeoutMs, callsProvider: calls_provider = false } = options
      const isQuery = method === 'GET' && !path.startsWith('/admin/payments/')
      const origin = isQuery ? urls.query : urls.command[random.between(0, urls.command.length - 1)]
      const contentType = body !== undefined && { 'content-type': 'application/json' }
      const isPatient = timeoutMs === requestTimeoutMs
      return timed({ request: `${method} ${path}`, isPatient, calls_provider }, async () => {
        const response = await fetch(`${origin}${path}`, {
          method,
          headers: { ...contentType, ...credentials[owner], ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: anySignal(over, AbortSignal.timeout(timeoutMs)),
        })
        const text = await response.text()
        if (owner !== 'administrator') sight(owner, `${method} ${path}`, text)
        return { status: response.status, text, headers: response.headers }
      })
    },
  }
}

export function createClient(options: ClientOptions): Client {
  const { random, hasToEnd } = options
  const { send, sightings, takeReplies } = createTransport(options)
  const operations: Operation[] = []
  const reads: ReadAfterWrite[] = []
  const intrusions: Intrusion[] = []
  let busy = 0

  async function attempt(operation: Operation, request: Request): Promise<Success | undefined> {
    const { owner, key, answers } = operation
    // Some clients lose patience, so that their connection ends during the request.
    const timeoutMs = random.isIn(impatientShare) ? random.between(5, 150) : requestTimeoutMs
    const headers = key === null ? {} : { 'idempotency-key': key }
    const sending = { headers, timeoutMs, callsProvider: callsProvider(operation) }
    const response = await send(owner, request, sending).catch((error: unknown) => lossOf(error))
    if (typeof response === 'string') {
      answers.push({ status: null, code: response, id: null, position: null })
      return undefined
    }
    const { data, error } = bodyOf(response.text)
    const position = response.headers.get('x-event-position')
    answers.push({ status: response.status, code: error?.code ?? null, id: data?.id ?? null, position })
    return data && { data, position }
  }

  async function counted<Result>(work: () => Promise<Result>): Promise<Result> {
    busy++
    try {
      return await work()
    } finally {
      busy--
    }
  }

  return {
    operations,
    reads,
    intrusions,
    get sightings() {
      return [...sightings.values()]
    },
    operation(about) {
      const operation = { ...about, answers: [], gave_up: false }
      operations.push(operation)
      return operation
    },
    perform: (operation, request) =>
      counted(async () => {
        const isRepeatable = operation.key !== null || !/^(create|add|save|refund)/.test(operation.action)
        for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
          const success = await attempt(operation, request)
          if (isFinal(operation.answers.at(-1)) || !isRepeatable) return success
          operation.gave_up = hasToEnd()
          if (operation.gave_up) return undefined
          await pause(pauseMs * (0.5 + random.next()))
        }
      }),
    read: (owner, path) =>
      counted(async () => {
        const response = await send(owner, { method: 'GET', path }).catch(() => undefined)
        return response?.status === 200 ? bodyOf(response.text).data : undefined
      }),
    readAfter: (owner, path, { position, expected }) =>
      counted(async () => {
        for (let tries = 0; tries < readTries; tries++) {
          const headers = { 'x-read-after': position }
          const response = await send(owner, { method: 'GET', path }, { headers }).catch(() => undefined)
          if (response?.status !== 200 && response?.status !== 404) continue
          const { status, text } = response
          const is_right = expected === null ? status === 404 : text.includes(expected)
          const is_stale = response.headers.get('x-read-stale') === 'true'
          reads.push({ request: `GET ${path}`, status, expected: expected ?? 'nothing', is_right, is_stale })
          return
        }
      }),
    intrude: (owner, request) =>
      counted(async () => {
        const response = await send(owner, request).catch(() => undefined)
        if (response !== undefined)
          intrusions.push({ owner, request: `${request.method} ${request.path}`, status: response.status })
      }),
    busy: () => busy,
    takeReplies,
  }
}

const callsProvider = ({ provider }: Operation) => provider !== null && provider !== 'sandbox'

/** A proxy in front of the system may respond without one. */
function bodyOf(text: string): { readonly data?: Resource; readonly error?: { readonly code: string } } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** How a response was lost. */
function lossOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'client lost patience'
  const cause = error instanceof Error ? error.cause : undefined
  const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
  return isRefused ? 'connection refused' : 'connection lost'
}

/** A client repeats a request that has no response, came too late, is still in progress, or met an error of the server. */
function isFinal(answer: Answer | undefined): boolean {
  const { status = null, code = null } = answer ?? {}
  const isInTheWay = code === 'idempotency_key_in_flight' || code === 'concurrent_modification'
  return status !== null && status < 500 && ![408, 429].includes(status) && !isInTheWay
}
