// The fake Stripe's request handling: authentication, idempotency keys, planned errors and faults.
// https://docs.stripe.com/api/idempotent_requests

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createFakeRateLimit, createFaultPlan } from '../fakeServer.ts'
import { apiVersion, stripeId } from './bodies.ts'
import { catalogRoutes } from './catalogRoutes.ts'
import { invalid, StripeApiError, type StripeErrorBody, tooManyRequests } from './errors.ts'
import { intentRoutes } from './intentRoutes.ts'
import { checkParams, readForm } from './params.ts'
import { refundRoutes } from './refundRoutes.ts'
import type { Route, StripeState } from './state.ts'
import { vaultRoutes } from './vaultRoutes.ts'

export type StripeOutcome = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly replayed?: boolean
}

const keptMs = 24 * 60 * 60 * 1000

function createIdempotencyKeys(now: () => Date) {
  const kept = new Map<string, { readonly request: string; readonly outcome: StripeOutcome; readonly at: number }>()
  const locked = new Map<string, string>()
  return {
    /**
     * The stored outcome of a key, for exactly the same request.
     * @throws StripeApiError when the key belongs to another request, or its first request is in progress
     */
    find(key: string, request: string): StripeOutcome | undefined {
      const entry = kept.get(key)
      const isKept = entry !== undefined && now().getTime() - entry.at < keptMs
      const first = locked.get(key) ?? (isKept ? entry.request : request)
      if (first !== request)
        throw new StripeApiError(400, {
          type: 'idempotency_error',
          message: `Keys for idempotent requests can only be used with the same parameters: '${key}'.`,
        })
      if (locked.has(key))
        throw new StripeApiError(409, {
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          message: `There is another request in progress with this key: ${key}.`,
        })
      return isKept ? { ...entry.outcome, replayed: true } : undefined
    },
    /** Until `release`, other requests with this key get a 409. */
    lock: (key: string, request: string) => void locked.set(key, request),
    release: (key: string) => void locked.delete(key),
    /** Stores an outcome, which may be an error. */
    keep: (key: string, request: string, outcome: StripeOutcome) =>
      void kept.set(key, { request, outcome, at: now().getTime() }),
  }
}

export type StripeCall = {
  readonly method: string
  readonly path: string
  /** The idempotency key. */
  readonly key: string | null
  /** With their raw names: `metadata[payment_id]`. */
  readonly params: Readonly<Record<string, string>>
}

type Received = StripeCall & { readonly form: string; readonly headers: IncomingMessage['headers'] }

export type PlannedError = {
  readonly status: number
  readonly error: StripeErrorBody
  readonly headers?: Readonly<Record<string, string>>
}

const paths = [...intentRoutes, ...refundRoutes, ...vaultRoutes, ...catalogRoutes]

export function createStripeServer(state: StripeState, secretKey: string, now: () => Date) {
  const calls: StripeCall[] = []
  const [faults, readFaults] = [createFaultPlan(), createFaultPlan()]
  const keys = createIdempotencyKeys(now)
  const plannedErrors: StripeApiError[] = []
  const rateLimit = createFakeRateLimit()
  const internalErrors: { readonly commits: boolean }[] = []

  const perform = (path: Route, call: Received, id: string): StripeOutcome => {
    const values = checkParams(readForm(call.form), path.params)
    const act = () => outcomeOf(() => path.act({ state, id, values, key: call.key }))
    const broken = path.method !== 'GET' ? internalErrors.shift() : undefined
    if (!broken) return act()
    if (broken.commits) act()
    return { status: 500, body: { error: { type: 'api_error', message: 'An unknown error occurred' } } }
  }

  const change = async (
    path: Route,
    call: Received,
    id: string,
    send: (outcome: StripeOutcome) => void,
    to: ServerResponse,
  ) => {
    const { key } = call
    if (key === null) return faults.play(to, () => perform(path, call, id), send)
    const request = `${call.path}?${call.form.split('&').sort().join('&')}`
    const kept = keys.find(key, request)
    keys.lock(key, request)
    const act = () => {
      if (kept) return kept
      const outcome = perform(path, call, id)
      keys.keep(key, request, outcome)
      return outcome
    }
    await faults.play(to, act, send).finally(() => keys.release(key))
  }

  const serve = async (request: IncomingMessage, response: ServerResponse, body: string) => {
    const call = received(request, body)
    const { method, path, key, params } = call
    calls.push({ method, path, key, params })
    const send = (outcome: StripeOutcome) => write(response, outcome, { call, date: now() })
    try {
      const planned = plannedErrors.shift()
      if (planned) throw planned
      const tooMany = rateLimit.take()
      if (tooMany) throw tooManyRequests(tooMany)
      checkHeaders(call, secretKey)
      const [found, id] = routeOf(call)
      if (method !== 'GET') return await change(found, call, id, send, response)
      await readFaults.play(response, () => perform(found, call, id), send)
    } catch (error) {
      if (!(error instanceof StripeApiError)) throw error
      send(errorOutcome(error))
    }
  }
  const listener: RequestListener = (request, response) =>
    void text(request).then(
      (body) => serve(request, response, body),
      // The caller was killed during the request.
      () => response.destroy(),
    )
  return {
    listener,
    /** All received calls, including rejected ones. */
    calls: calls as readonly StripeCall[],
    /** For calls that change something. */
    faults,
    readFaults,
    /** Calls above the rate get a 429 and are not executed. */
    rateLimit,
    /** Errors for the next calls, which are not executed and not stored under their keys. */
    failNext: (...all: readonly PlannedError[]) =>
      void plannedErrors.push(...all.map(({ status, error, headers }) => new StripeApiError(status, error, headers))),
    /** The next changing call fails inside Stripe: its 500 is stored under its key, as Stripe does. */
    failInside: (how: { readonly commits: boolean }) => void internalErrors.push(how),
  }
}

function outcomeOf(act: () => object): StripeOutcome {
  try {
    // A copy, because a stored outcome must not change with the object.
    return { status: 200, body: structuredClone(act()) }
  } catch (error) {
    if (error instanceof StripeApiError) return errorOutcome(error)
    throw error
  }
}

function errorOutcome({ status, body, headers }: StripeApiError): StripeOutcome {
  const doc_url = body.code === undefined ? {} : { doc_url: `https://stripe.com/docs/error-codes/${body.code}` }
  return { status, headers, body: { error: { ...body, ...doc_url } } }
}

function received({ method = '', url = '', headers }: IncomingMessage, body: string): Received {
  const [path = '', query = ''] = url.split('?')
  const form = method === 'GET' ? query : body
  const key = headers['idempotency-key']
  return {
    method,
    path,
    form,
    headers,
    key: typeof key === 'string' ? key : null,
    params: Object.fromEntries(new URLSearchParams(form)),
  }
}

function checkHeaders({ method, key, headers }: Received, secretKey: string): void {
  if (headers.authorization !== `Bearer ${secretKey}`)
    throw new StripeApiError(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_****' })
  const version = headers['stripe-version']
  if (version !== undefined && version !== apiVersion)
    throw invalid(undefined, `This fake supports ${apiVersion} and not ${version}`)
  if (method === 'POST' && headers['content-type'] !== 'application/x-www-form-urlencoded')
    throw invalid(undefined, 'The body must be a form')
  if (key !== null && (key === '' || key.length > 255)) throw invalid(undefined, 'Invalid Idempotency-Key')
}

function routeOf({ method, path }: Received): readonly [Route, string] {
  for (const candidate of paths) {
    const found = candidate.method === method ? candidate.pattern.exec(path) : null
    if (found) return [candidate, found[1] ?? '']
  }
  throw new StripeApiError(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path}).`,
  })
}

function write(
  response: ServerResponse,
  { status, body, headers, replayed }: StripeOutcome,
  { call, date }: { readonly call: Received; readonly date: Date },
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    date: date.toUTCString(),
    'request-id': stripeId('req'),
    'stripe-version': apiVersion,
    ...headers,
    ...(call.key === null ? {} : { 'idempotency-key': call.key }),
    ...(replayed ? { 'idempotent-replayed': 'true', 'original-request': stripeId('req') } : {}),
  })
  response.end(JSON.stringify(body, null, 2))
}
